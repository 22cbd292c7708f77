// Requests that no message completes.
#include <fult/comm/endpoint.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm::detail {

namespace {

struct manual_request final : request_state, operation {
    explicit manual_request(detail::device &owner) noexcept {
        device = &owner;
        op = this;
    }
};

} // namespace

request open_request(const endpoint &ep) {
    endpoint_state *const state = endpoint_access::state(ep);
    FULT_ASSERT(state, "an empty endpoint has no device");
    return request_pointer::of(new manual_request(state->device));
}

void end_request(const request &open) noexcept {
    request_state *const p = request_pointer::target(open);
    FULT_ASSERT(dynamic_cast<manual_request *>(p), "the request was made by open_request");
    p->complete();
}

} // namespace fult::comm::detail
