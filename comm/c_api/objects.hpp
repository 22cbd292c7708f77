// Types behind the C structures.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <fult/comm.h>
#include <fult/comm/context.hpp>

#include "comm/c_api/errors.hpp"

struct fult_comm_endpoint {
    explicit fult_comm_endpoint(fult::comm::endpoint &elsewhere) noexcept : object(elsewhere) {}
    explicit fult_comm_endpoint(fult::comm::endpoint &&made) noexcept : own(std::move(made)), object(own) {}
    fult_comm_endpoint(const fult_comm_endpoint &) = delete;
    fult_comm_endpoint &operator=(const fult_comm_endpoint &) = delete;

    fult::comm::endpoint own; // empty for world, which the context owns
    fult::comm::endpoint &object;
};

namespace fult::comm::detail {

// The one context of the C interface.
struct c_context {
    explicit c_context(const options &settings) : object(settings) {}
    context object;
    fult_comm_endpoint world{object.world()};
    std::atomic<std::size_t> left{0}; // endpoints and regions not destroyed yet
};
c_context *the_context() noexcept;     // nullptr: none
int reject_without_context() noexcept; // the status for that
endpoint_options endpoint_options_of(const fult_comm_endpoint_attr *given, const char *call);

// body(the C++ endpoint) returns the status.
template <class Body>
int call_with(fult_comm_endpoint_t handle, const char *call, const Body &body) noexcept {
    return handle ? status_of(call, [&] { return body(handle->object); }) : reject_without_endpoint(call);
}
// body(the C++ endpoint) throws or succeeds.
template <class Body> int perform(fult_comm_endpoint_t handle, const char *call, const Body &body) noexcept {
    return call_with(handle, call, [&](endpoint &ep) {
        body(ep);
        return int{FULT_SUCCESS};
    });
}

} // namespace fult::comm::detail
