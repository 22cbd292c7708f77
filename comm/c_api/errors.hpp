// Conversion of exceptions to statuses, and their texts.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fult/comm.h>
#include <fult/comm/status.hpp>

namespace fult::comm::detail {

// An argument that is refused; the text lacks the call.
struct refusal : std::invalid_argument {
    using std::invalid_argument::invalid_argument;
};

constexpr const char *no_memory_given = "the memory is NULL, and its size is not 0";
constexpr const char *no_list = "the list is NULL, and its length is not 0";
// Memory of the caller. Throws refusal if it is NULL, and its size is not 0.
template <class T> T *given(T *memory, std::size_t size, const char *text = no_memory_given) {
    if (!memory && size != 0)
        throw refusal(text);
    return memory;
}

// Stores the text for fult_comm_error_text; returns the status. Out of line: the calling task may have been
// moved to another thread during the call.
int set_status(int status, const char *text) noexcept;
// The same for an argument: "<call>: <what>".
int reject_argument(const char *call, const char *what) noexcept;
// For a NULL endpoint, a possible reason of which is a missing context.
int reject_without_endpoint(const char *call) noexcept;

// Returns the status for the exception that is being handled, and stores its text.
int status_of_exception(const char *call) noexcept;

// Stops exceptions: C has none. body() returns a status.
template <class Body> int status_of(const char *call, const Body &body) noexcept {
    try {
        return body();
    } catch (...) {
        return status_of_exception(call);
    }
}

inline void write_envelope(fult_comm_envelope *to, const status &envelope) noexcept {
    if (to)
        *to = {envelope.source, envelope.tag, envelope.size};
}

} // namespace fult::comm::detail
