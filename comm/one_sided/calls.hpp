// What all calls of put and get begin with.
#pragma once

#include <fult/comm/one_sided.hpp>

#include "comm/one_sided/one_sided.hpp"

namespace fult::comm::detail {

// Checks what the caller may get wrong, throwing for it in the name of `call`, and tells it to the operation.
void describe_access(access &a, const endpoint &through, const char *call, bool is_put, void *data,
                     std::size_t size, const remote_region &there, std::size_t offset);

} // namespace fult::comm::detail
