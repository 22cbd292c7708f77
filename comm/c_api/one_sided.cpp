// One-sided access.
#include <memory>

#include <fult/comm/one_sided.hpp>

#include "comm/c_api/objects.hpp"
#include "comm/c_api/requests.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::remote_region;

struct fult_comm_region {
    fult::comm::region it;
};

namespace {

remote_region there(const fult_comm_remote_region &r) noexcept { return {r.rank, r.writable, r.id, r.size}; }

template <class Memory>
int make_region(const char *call, fult_comm_region_t *made, fult_comm_endpoint_t on, Memory *base,
                std::size_t size) noexcept {
    if (!made || missing(base, size))
        return wrong_argument(call, made ? no_memory_given : "there is no place for the region");
    return perform(on, call, [&](endpoint &it) {
        *made = std::make_unique<fult_comm_region>(fult_comm_region{fult::comm::region(it, base, size)})
                    .release();
        the_context()->left.fetch_add(1, std::memory_order_relaxed);
    });
}

// access(endpoint, region) throws or succeeds.
template <class Access>
int reach(const char *call, fult_comm_endpoint_t through, const void *data, std::size_t size,
          const fult_comm_remote_region *where, const Access &access) noexcept {
    if (!where || missing(data, size))
        return wrong_argument(call, where ? no_memory_given : "the remote region is NULL");
    return perform(through, call, [&](endpoint &it) { access(it, there(*where)); });
}
// The same, returning a request.
template <class Begin>
int begin(const char *call, fult_comm_endpoint_t through, const void *data, std::size_t size,
          const fult_comm_remote_region *where, fult_comm_request_t *begun, const Begin &how) noexcept {
    if (!begun)
        return wrong_argument(call, "there is no place for the request");
    *begun = nullptr;
    return reach(call, through, data, size, where,
                 [&](endpoint &it, const remote_region &r) { *begun = name_of(how(it, r)); });
}

} // namespace

int fult_comm_region_create(fult_comm_region_t *made, fult_comm_endpoint_t on, void *base, size_t size) {
    return make_region("fult_comm_region_create", made, on, base, size);
}

int fult_comm_region_create_const(fult_comm_region_t *made, fult_comm_endpoint_t on, const void *base,
                                  size_t size) {
    return make_region("fult_comm_region_create_const", made, on, base, size);
}

int fult_comm_region_remote(fult_comm_region_t region, fult_comm_remote_region *remote) {
    if (!region || !remote)
        return wrong_argument("fult_comm_region_remote", "the region or the result pointer is NULL");
    const remote_region its = region->it.remote();
    *remote = {its.rank, its.writable, its.id, its.size};
    return FULT_SUCCESS;
}

int fult_comm_region_destroy(fult_comm_region_t gone) {
    if (!gone)
        return wrong_argument("fult_comm_region_destroy", "the region is NULL");
    delete gone;
    the_context()->left.fetch_sub(1, std::memory_order_release);
    return FULT_SUCCESS;
}

int fult_comm_put(fult_comm_endpoint_t through, const void *data, size_t size,
                  const fult_comm_remote_region *to, size_t offset) {
    return reach("fult_comm_put", through, data, size, to,
                 [&](endpoint &it, const remote_region &r) { put(it, data, size, r, offset); });
}

int fult_comm_iput(fult_comm_endpoint_t through, const void *data, size_t size,
                   const fult_comm_remote_region *to, size_t offset, fult_comm_request_t *begun) {
    return begin("fult_comm_iput", through, data, size, to, begun,
                 [&](endpoint &it, const remote_region &r) { return iput(it, data, size, r, offset); });
}

int fult_comm_put_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                         const fult_comm_remote_region *to, size_t offset, int64_t tag) {
    return reach("fult_comm_put_signal", through, data, size, to,
                 [&](endpoint &it, const remote_region &r) { put_signal(it, data, size, r, offset, tag); });
}

int fult_comm_iput_signal(fult_comm_endpoint_t through, const void *data, size_t size,
                          const fult_comm_remote_region *to, size_t offset, int64_t tag,
                          fult_comm_request_t *begun) {
    return begin(
        "fult_comm_iput_signal", through, data, size, to, begun,
        [&](endpoint &it, const remote_region &r) { return iput_signal(it, data, size, r, offset, tag); });
}

int fult_comm_get(fult_comm_endpoint_t through, void *data, size_t size, const fult_comm_remote_region *from,
                  size_t offset) {
    return reach("fult_comm_get", through, data, size, from,
                 [&](endpoint &it, const remote_region &r) { get(it, data, size, r, offset); });
}

int fult_comm_iget(fult_comm_endpoint_t through, void *data, size_t size, const fult_comm_remote_region *from,
                   size_t offset, fult_comm_request_t *begun) {
    return begin("fult_comm_iget", through, data, size, from, begun,
                 [&](endpoint &it, const remote_region &r) { return iget(it, data, size, r, offset); });
}
