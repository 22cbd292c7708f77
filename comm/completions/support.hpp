// Common to all completion objects.
#pragma once

#include <fult/comm/completion.hpp>

namespace fult::comm::detail {

// Throws std::invalid_argument, in the name of `call`, for an empty endpoint.
device &device_of(const endpoint &ep, const char *call);

// Throws the error of an operation that failed.
[[noreturn]] void throw_failure(const completion_event &event, const char *call);

} // namespace fult::comm::detail
