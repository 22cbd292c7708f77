// Common start of all calls of put and get.
#pragma once

#include <fult/comm/one_sided.hpp>

#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

// Checks the user's arguments, throws in the name of `call` if one is wrong, and stores them in the
// operation.
void describe_access(access &a, const endpoint &ep, const char *call, bool is_put, void *data,
                     std::size_t size, const remote_region &there, std::size_t offset);
// The same for the signal of a put.
void describe_signal(access &a, const char *call, std::int64_t tag);

} // namespace fult::comm::detail
