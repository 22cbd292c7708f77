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

remote_region there(const fult_comm_remote_region &r) noexcept { return {r.rank, r.writable, r.id, r.size}; }

template <class Memory>
int make_region(const char *call, fult_comm_region_t *region, fult_comm_endpoint_t handle, Memory *base,
                std::size_t size) noexcept {
    if (!region || is_missing(base, size))
        return reject_argument(call, region ? no_memory_given : "there is no place for the region");
    return perform(handle, call, [&](endpoint &ep) {
        *region = std::make_unique<fult_comm_region>(fult_comm_region{fult::comm::region(ep, base, size)})
                      .release();
        the_context()->left.fetch_add(1, std::memory_order_relaxed);
    });
}

// access(endpoint, region) throws or succeeds.
template <class Access>
int reach(const char *call, fult_comm_endpoint_t handle, const void *data, std::size_t size,
          const fult_comm_remote_region *remote, const Access &access) noexcept {
    if (!remote || is_missing(data, size))
        return reject_argument(call, remote ? no_memory_given : "the remote region is NULL");
    return perform(handle, call, [&](endpoint &ep) { access(ep, there(*remote)); });
}
// The same, returning a request.
template <class Begin>
int begin(const char *call, fult_comm_endpoint_t handle, const void *data, std::size_t size,
          const fult_comm_remote_region *remote, fult_comm_request_t *request, const Begin &how) noexcept {
    if (!request)
        return reject_argument(call, "there is no place for the request");
    *request = nullptr;
    return reach(call, handle, data, size, remote,
                 [&](endpoint &ep, const remote_region &r) { *request = request_handle(how(ep, r)); });
}

} // namespace

int fult_comm_region_create(fult_comm_region_t *region, fult_comm_endpoint_t handle, void *base,
                            size_t size) {
    return make_region("fult_comm_region_create", region, handle, base, size);
}

int fult_comm_region_create_const(fult_comm_region_t *region, fult_comm_endpoint_t handle, const void *base,
                                  size_t size) {
    return make_region("fult_comm_region_create_const", region, handle, base, size);
}

int fult_comm_region_remote(fult_comm_region_t region, fult_comm_remote_region *remote) {
    if (!region || !remote)
        return reject_argument("fult_comm_region_remote", "the region or the result pointer is NULL");
    const remote_region its = region->object.remote();
    *remote = {its.rank, its.writable, its.id, its.size};
    return FULT_SUCCESS;
}

int fult_comm_region_destroy(fult_comm_region_t gone) {
    if (!gone)
        return reject_argument("fult_comm_region_destroy", "the region is NULL");
    delete gone;
    the_context()->left.fetch_sub(1, std::memory_order_release);
    return FULT_SUCCESS;
}

int fult_comm_put(fult_comm_endpoint_t handle, const void *data, size_t size,
                  const fult_comm_remote_region *to, size_t offset) {
    return reach("fult_comm_put", handle, data, size, to,
                 [&](endpoint &ep, const remote_region &r) { put(ep, data, size, r, offset); });
}

int fult_comm_iput(fult_comm_endpoint_t handle, const void *data, size_t size,
                   const fult_comm_remote_region *to, size_t offset, fult_comm_request_t *request) {
    return begin("fult_comm_iput", handle, data, size, to, request,
                 [&](endpoint &ep, const remote_region &r) { return iput(ep, data, size, r, offset); });
}

int fult_comm_put_signal(fult_comm_endpoint_t handle, const void *data, size_t size,
                         const fult_comm_remote_region *to, size_t offset, int64_t tag) {
    return reach("fult_comm_put_signal", handle, data, size, to,
                 [&](endpoint &ep, const remote_region &r) { put_signal(ep, data, size, r, offset, tag); });
}

int fult_comm_iput_signal(fult_comm_endpoint_t handle, const void *data, size_t size,
                          const fult_comm_remote_region *to, size_t offset, int64_t tag,
                          fult_comm_request_t *request) {
    return begin(
        "fult_comm_iput_signal", handle, data, size, to, request,
        [&](endpoint &ep, const remote_region &r) { return iput_signal(ep, data, size, r, offset, tag); });
}

int fult_comm_get(fult_comm_endpoint_t handle, void *data, size_t size, const fult_comm_remote_region *from,
                  size_t offset) {
    return reach("fult_comm_get", handle, data, size, from,
                 [&](endpoint &ep, const remote_region &r) { get(ep, data, size, r, offset); });
}

int fult_comm_iget(fult_comm_endpoint_t handle, void *data, size_t size, const fult_comm_remote_region *from,
                   size_t offset, fult_comm_request_t *request) {
    return begin("fult_comm_iget", handle, data, size, from, request,
                 [&](endpoint &ep, const remote_region &r) { return iget(ep, data, size, r, offset); });
}
