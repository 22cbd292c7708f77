// Common to all completion objects.
#pragma once

#include <fult/comm/completion.hpp>

namespace fult::comm::detail {

// Throws std::invalid_argument, in the name of `call`, for an empty endpoint.
device &device_of(const endpoint &ep, const char *call);

// The calls around an operation that notifies a completion object. No friend of it: with one, compilers take
// its destructor for accessible.
struct completion_access : completion {
    static void expect(completion &object) { (object.*&completion_access::expect_one)(); }
    static void end(completion &object, const completion_event &event) noexcept {
        (object.*&completion_access::complete_expected)(event);
    }
    static void cancel(completion &object) noexcept { (object.*&completion_access::cancel_expected)(); }

  protected:
    ~completion_access() = default; // none is made
};

// Throws the error of an operation that failed.
[[noreturn]] void throw_failure(const completion_event &event, const char *call);

} // namespace fult::comm::detail
