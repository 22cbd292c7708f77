// One-sided access.
#include <memory>

#include <fult/comm/one_sided.hpp>

#include "comm/c_api/objects.hpp"
#include "comm/c_api/requests.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::remote_region;

struct fult_comm_region {
    fult::comm::region object;
};

namespace {

template <class Memory>
int make_region(const char *call, fult_comm_region_t *region, fult_comm_endpoint_t handle, Memory *base,
                std::size_t size) noexcept {
    if (!region)
        return reject_argument(call, "there is no place for the region");
    return perform(handle, call, [&](endpoint &ep) {
        *region = std::make_unique<fult_comm_region>(
                      fult_comm_region{fult::comm::region(ep, given(base, size), size)})
                      .release();
        the_context()->left.fetch_add(1, std::memory_order_relaxed);
    });
}

remote_region there(const fult_comm_remote_region *r) {
    if (!r)
        throw refusal("the remote region is NULL");
    return {r->rank, r->writable, r->id, r->size};
}

} // namespace

int fult_comm_region_create(fult_comm_region_t *region, fult_comm_endpoint_t handle, void *base,
                            size_t size) {
    return make_region(__func__, region, handle, base, size);
}

int fult_comm_region_create_const(fult_comm_region_t *region, fult_comm_endpoint_t handle, const void *base,
                                  size_t size) {
    return make_region(__func__, region, handle, base, size);
}

int fult_comm_region_remote(fult_comm_region_t region, fult_comm_remote_region *remote) {
    if (!region || !remote)
        return reject_argument(__func__, "the region or the result pointer is NULL");
    const remote_region its = region->object.remote();
    *remote = {its.rank, its.writable, its.id, its.size};
    return FULT_SUCCESS;
}

int fult_comm_region_destroy(fult_comm_region_t gone) {
    if (!gone)
        return reject_argument(__func__, "the region is NULL");
    delete gone;
    the_context()->left.fetch_sub(1, std::memory_order_release);
    return FULT_SUCCESS;
}

int fult_comm_put(fult_comm_endpoint_t handle, const void *data, size_t size,
                  const fult_comm_remote_region *to, size_t offset) {
    return perform(handle, __func__,
                   [&](endpoint &ep) { put(ep, given(data, size), size, there(to), offset); });
}

int fult_comm_iput(fult_comm_endpoint_t handle, const void *data, size_t size,
                   const fult_comm_remote_region *to, size_t offset, fult_comm_request_t *request) {
    return begin_request(handle, __func__, request,
                         [&](endpoint &ep) { return iput(ep, given(data, size), size, there(to), offset); });
}

int fult_comm_put_signal(fult_comm_endpoint_t handle, const void *data, size_t size,
                         const fult_comm_remote_region *to, size_t offset, int64_t tag) {
    return perform(handle, __func__,
                   [&](endpoint &ep) { put_signal(ep, given(data, size), size, there(to), offset, tag); });
}

int fult_comm_iput_signal(fult_comm_endpoint_t handle, const void *data, size_t size,
                          const fult_comm_remote_region *to, size_t offset, int64_t tag,
                          fult_comm_request_t *request) {
    return begin_request(handle, __func__, request, [&](endpoint &ep) {
        return iput_signal(ep, given(data, size), size, there(to), offset, tag);
    });
}

int fult_comm_get(fult_comm_endpoint_t handle, void *data, size_t size, const fult_comm_remote_region *from,
                  size_t offset) {
    return perform(handle, __func__,
                   [&](endpoint &ep) { get(ep, given(data, size), size, there(from), offset); });
}

int fult_comm_iget(fult_comm_endpoint_t handle, void *data, size_t size, const fult_comm_remote_region *from,
                   size_t offset, fult_comm_request_t *request) {
    return begin_request(handle, __func__, request, [&](endpoint &ep) {
        return iget(ep, given(data, size), size, there(from), offset);
    });
}
