// What all that is told of the end of operations needs.
#pragma once

#include <fult/comm/completion.hpp>

namespace fult::comm::detail {

// Throws std::invalid_argument, in the name of `call`, for an endpoint of nothing.
device &device_of(const endpoint &on, const char *call);

// Throws what became of an operation that failed.
[[noreturn]] void throw_failure(const completed &what, const char *call);

} // namespace fult::comm::detail
