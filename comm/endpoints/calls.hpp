// Common part of the functions of endpoint.
#pragma once

#include <fult/detail/waiter.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm::detail {

// Blocking calls: the operation and the waiter lie on the task's stack.
struct alignas(64) blocking_receive final : receive {
    fult::detail::waiter done{fult::detail::waiter::as_it_comes{}};
    blocking_receive() noexcept {
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<blocking_receive &>(op).done.grant();
        };
    }
    // After it was posted. Throws if it failed.
    status result(const char *call) {
        endpoint->device.wait(done, *this);
        if (failure != errc::none)
            throw_failure(*this, call);
        return envelope;
    }
};

struct blocking_send final : send_operation {
    fult::detail::waiter done{fult::detail::waiter::as_it_comes{}};
    blocking_send() noexcept {
        finished = [](operation &op, callback_queue *) noexcept {
            static_cast<blocking_send &>(op).done.grant();
        };
    }
    errc carry_out(device &device) noexcept {
        device.send(*this);
        device.wait(done, *this);
        return failure;
    }
};

} // namespace fult::comm::detail
