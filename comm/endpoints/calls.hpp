// Common part of the functions that take an endpoint.
#pragma once

#include <fult/detail/waiter.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm::detail {

// Of a blocking call: the operation and the waiter lie on the task's stack.
template <class Operation> struct alignas(64) blocking_operation : Operation {
    fult::detail::waiter done;
    template <class Kind = fult::detail::waiter::as_it_comes>
    explicit blocking_operation(const Kind &kind = {}) noexcept : done(kind) {
        this->finished = [](operation &op, callback_queue *) noexcept {
            static_cast<blocking_operation &>(op).done.grant();
        };
    }
};

struct blocking_receive final : blocking_operation<receive> {
    blocking_receive(endpoint_state &at, void *data, std::size_t size, int source, std::int64_t tag,
                     bool scattered = false) noexcept {
        describe_receive(*this, at, data, size, source, tag);
        is_scattered = scattered;
    }
    // After it was posted.
    status result(errc &how) noexcept {
        endpoint->device.wait(done, *this);
        how = failure;
        return envelope;
    }
    status result(const char *call) { // throws if it failed
        errc how;
        const status got = result(how);
        if (how != errc::none)
            throw_failure(*this, call);
        return got;
    }
};

struct blocking_send final : blocking_operation<send_operation> {
    blocking_send(const endpoint_state &from, const void *data, std::size_t size, int to, std::uint32_t tag,
                  bool synchronous = false, bool scattered = false) noexcept {
        describe_send(*this, from, data, size, to, tag);
        is_synchronous = synchronous;
        is_scattered = scattered;
    }
    errc carry_out(device &device) noexcept {
        device.send(*this);
        device.wait(done, *this);
        return failure;
    }
    void carry_out(device &device, const char *call) { // throws if it failed
        if (carry_out(device) != errc::none)
            throw_failure(*this, call);
    }
};

// Starts the receive of a request.
inline request begin_receive(std::unique_ptr<receive_request> r, endpoint_state &at, void *data,
                             std::size_t size, int source, std::int64_t tag, bool scattered) noexcept {
    r->device = &at.device;
    describe_receive(*r, at, data, size, source, tag);
    r->is_scattered = scattered;
    at.device.post(*r);
    return request_pointer::of(r.release());
}

} // namespace fult::comm::detail
