#include "comm/one_sided/calls.hpp"

#include <stdexcept>
#include <string>

#include <fult/comm/one_sided.hpp>
#include <fult/detail/forked.hpp>

#include "comm/device/endpoint_state.hpp"
#include "comm/endpoints/calls.hpp"
#include "comm/requests/request_state.hpp"

namespace fult::comm {

using namespace detail;

namespace detail {

struct offered_region : region_state {
    detail::device *device = nullptr;
};

} // namespace detail

namespace {

std::string opening(const char *call) { return std::string("fult-comm: ").append(call).append(": "); }

std::unique_ptr<offered_region> offer(const endpoint &ep, void *base, std::size_t size, bool writable) {
    auto made = std::make_unique<offered_region>();
    made->device = &state_of(ep, "region").device;
    made->base = static_cast<std::byte *>(base);
    made->size = size;
    made->writable = writable;
    made->device->remote_memory().offer(*made);
    return made;
}

struct blocking_access final : blocking_operation<access> {
    blocking_access() noexcept : blocking_operation(fult::detail::wait_limits()) {}
};
using access_request = operation_request<access>;

void carry_out(blocking_access &a, const char *call) {
    device &device = a.endpoint->device;
    device.remote_memory().begin(a);
    device.wait(a.done, a);
    if (a.failure != errc::none)
        throw_failure(a, call);
}

request begin(std::unique_ptr<access_request> a) {
    a->device = &a->endpoint->device;
    a->device->remote_memory().begin(*a);
    return request_pointer::of(a.release());
}

} // namespace

namespace detail {

void describe_access(access &a, const endpoint &ep, const char *call, bool is_put, void *data,
                     std::size_t size, const remote_region &there, std::size_t offset) {
    endpoint_state &state = state_of(ep, call);
    if (there.rank < 0 || there.rank >= state.device.size() || !state.has_member(there.rank))
        throw std::out_of_range(opening(call) + "the region is of rank " + std::to_string(there.rank) +
                                " of the job, which is none of the endpoint's");
    if (is_put && there.writable == 0)
        throw std::invalid_argument(opening(call) + "the region was offered for reading only");
    if (offset > there.size || size > there.size - offset)
        throw std::out_of_range(opening(call) + std::to_string(size) + " bytes from offset " +
                                std::to_string(offset) + " on are not within the region, which has " +
                                std::to_string(there.size));
    a.is_put = is_put;
    a.local = static_cast<std::byte *>(data);
    a.size = size;
    a.outgoing_record::rank = there.rank;
    a.endpoint_rank = state.own_rank(there.rank);
    a.region = there.id;
    a.offset = offset;
    a.endpoint = &state;
    a.endpoint_id = state.id;
}

void describe_signal(access &a, const char *call, std::int64_t tag) {
    a.tag = endpoint_state::check_tag(call, tag);
    a.has_signal = true;
}

} // namespace detail

region::region(endpoint &ep, void *base, std::size_t size) : what_(offer(ep, base, size, true)) {}
region::region(endpoint &ep, const void *base, std::size_t size)
    : what_(offer(ep, const_cast<void *>(base), size, false)) {}
region::region() noexcept = default;
region::region(region &&other) noexcept = default;
region &region::operator=(region &&other) noexcept {
    if (this != &other) {
        const region gone(std::move(*this));
        what_ = std::move(other.what_);
    }
    return *this;
}
region::~region() {
    if (fult::detail::in_forked_child())
        (void)what_.release(); // registered with what the child shares with its parent
    else if (what_)
        what_->device->remote_memory().deregister_memory(*what_);
}

remote_region region::remote() const noexcept {
    if (!what_)
        return {};
    return {what_->device->rank(), what_->writable ? 1U : 0U, what_->id, what_->size};
}

void put(endpoint &ep, const void *data, std::size_t size, const remote_region &to, std::size_t offset) {
    blocking_access a;
    describe_access(a, ep, "put", true, const_cast<void *>(data), size, to, offset);
    carry_out(a, "put");
}

request iput(endpoint &ep, const void *data, std::size_t size, const remote_region &to, std::size_t offset) {
    auto a = std::make_unique<access_request>();
    describe_access(*a, ep, "iput", true, const_cast<void *>(data), size, to, offset);
    return begin(std::move(a));
}

void put_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to, std::size_t offset,
                std::int64_t tag) {
    blocking_access a;
    describe_access(a, ep, "put_signal", true, const_cast<void *>(data), size, to, offset);
    describe_signal(a, "put_signal", tag);
    carry_out(a, "put_signal");
}

request iput_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                    std::size_t offset, std::int64_t tag) {
    auto a = std::make_unique<access_request>();
    describe_access(*a, ep, "iput_signal", true, const_cast<void *>(data), size, to, offset);
    describe_signal(*a, "iput_signal", tag);
    return begin(std::move(a));
}

void get(endpoint &ep, void *data, std::size_t size, const remote_region &from, std::size_t offset) {
    blocking_access a;
    describe_access(a, ep, "get", false, data, size, from, offset);
    carry_out(a, "get");
}

request iget(endpoint &ep, void *data, std::size_t size, const remote_region &from, std::size_t offset) {
    auto a = std::make_unique<access_request>();
    describe_access(*a, ep, "iget", false, data, size, from, offset);
    return begin(std::move(a));
}

} // namespace fult::comm
