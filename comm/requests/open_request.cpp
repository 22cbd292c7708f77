// Requests that no message completes.
#include <fult/comm/endpoint.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/requests/pending.hpp"

namespace fult::comm::detail {

namespace {

struct open_pending final : pending, operation {
    explicit open_pending(device &of) noexcept {
        on = &of;
        what = this;
    }
    void destroy() noexcept override { delete this; }
    bool cancel() noexcept override { return false; }
};

} // namespace

request open_request(const endpoint &of) {
    endpoint_state *const state = endpoint_access::state(of);
    FULT_ASSERT(state, "an empty endpoint has no device");
    return request_pointer::of(new open_pending(state->on));
}

void end_request(const request &open) noexcept {
    pending *const p = request_pointer::target(open);
    FULT_ASSERT(dynamic_cast<open_pending *>(p), "the request was made by open_request");
    p->complete();
}

} // namespace fult::comm::detail
