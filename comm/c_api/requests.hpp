// A C request is the pointer of the C++ request, so it costs no more than in C++.
#pragma once

#include <utility>

#include <fult/comm.h>

#include "comm/requests/pending.hpp"

namespace fult::comm::detail {
static_assert(sizeof(fult_comm_request_t) == sizeof(pending *));

inline pending *inside(fult_comm_request_t r) noexcept { return reinterpret_cast<pending *>(r); }
inline fult_comm_request_t name_of(request &&r) noexcept {
    return reinterpret_cast<fult_comm_request_t>(request_pointer::release(r));
}

} // namespace fult::comm::detail
