// A C request is the pointer of the C++ request, so it costs no more than in C++.
#pragma once

#include <utility>

#include <fult/comm.h>

#include "comm/requests/request_state.hpp"

namespace fult::comm::detail {
static_assert(sizeof(fult_comm_request_t) == sizeof(request_state *));

inline request_state *target_of(fult_comm_request_t r) noexcept {
    return reinterpret_cast<request_state *>(r);
}
inline fult_comm_request_t request_handle(request &&r) noexcept {
    return reinterpret_cast<fult_comm_request_t>(request_pointer::release(r));
}

} // namespace fult::comm::detail
