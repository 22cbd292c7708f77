// Common to all completion objects.
#pragma once

#include <fult/comm/completion.hpp>

namespace fult::comm::detail {

// Throws std::invalid_argument, in the name of `call`, for an empty endpoint.
device &device_of(const endpoint &ep, const char *call);

// The calls around an operation that notifies a completion object.
struct completion_access {
    static void expect_one(completion &object) { object.expect_one(); }
    static void complete_expected(completion &object, const completion_event &event) noexcept {
        object.complete_expected(event);
    }
    static void cancel_expected(completion &object) noexcept { object.cancel_expected(); }
};

// Throws the error of an operation that failed.
[[noreturn]] void throw_failure(const completion_event &event, const char *call);

} // namespace fult::comm::detail
