// A C request is the pointer of the C++ request, so it costs no more than in C++.
#pragma once

#include <utility>

#include <fult/comm.h>

#include "comm/c_api/objects.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm::detail {
static_assert(sizeof(fult_comm_request_t) == sizeof(request_state *));

inline request_state *target_of(fult_comm_request_t r) noexcept {
    return reinterpret_cast<request_state *>(r);
}
inline fult_comm_request_t request_handle(request &&r) noexcept {
    return reinterpret_cast<fult_comm_request_t>(request_pointer::release(r));
}

constexpr const char *no_place_for_request = "there is no place for the request";

// how(the C++ endpoint) returns a request.
template <class How>
int begin_request(fult_comm_endpoint_t handle, const char *call, fult_comm_request_t *request,
                  const How &how) noexcept {
    if (!request)
        return reject_argument(call, no_place_for_request);
    *request = nullptr;
    return perform(handle, call, [&](endpoint &ep) { *request = request_handle(how(ep)); });
}

} // namespace fult::comm::detail
