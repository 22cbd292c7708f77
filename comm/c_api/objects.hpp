// Types behind the C structures.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <fult/comm.h>
#include <fult/comm/context.hpp>

#include "comm/c_api/errors.hpp"

struct fult_comm_endpoint {
    explicit fult_comm_endpoint(fult::comm::endpoint &elsewhere) noexcept : it(elsewhere) {}
    explicit fult_comm_endpoint(fult::comm::endpoint &&made) noexcept : own(std::move(made)), it(own) {}
    fult_comm_endpoint(const fult_comm_endpoint &) = delete;
    fult_comm_endpoint &operator=(const fult_comm_endpoint &) = delete;

    fult::comm::endpoint own; // empty for world, which the context owns
    fult::comm::endpoint &it;
};

namespace fult::comm::detail {

// The one context of the C interface.
struct c_context {
    explicit c_context(const options &wanted) : it(wanted) {}
    context it;
    fult_comm_endpoint world{it.world()};
    std::atomic<std::size_t> left{0}; // endpoints and regions not destroyed yet
};
c_context *the_context() noexcept; // nullptr: none
int without_context() noexcept;    // the status for that
endpoint_options endpoint_options_of(const fult_comm_endpoint_attr *given, const char *call);

// body(the C++ endpoint) returns the status.
template <class Body> int with(fult_comm_endpoint_t on, const char *call, const Body &body) noexcept {
    return on ? status_of(call, [&] { return body(on->it); }) : no_endpoint(call);
}
// body(the C++ endpoint) throws or succeeds.
template <class Body> int perform(fult_comm_endpoint_t on, const char *call, const Body &body) noexcept {
    return with(on, call, [&](endpoint &it) {
        body(it);
        return int{FULT_SUCCESS};
    });
}

// True if data is NULL and size is not 0.
inline bool missing(const void *data, std::size_t size) noexcept { return !data && size != 0; }

} // namespace fult::comm::detail
