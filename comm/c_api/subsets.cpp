// Endpoints of some ranks.
#include <memory>

#include "comm/c_api/objects.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;

int fult_comm_endpoint_subset(fult_comm_endpoint_t *made, fult_comm_endpoint_t parent, const int *ranks,
                              size_t count, int64_t tag, const fult_comm_endpoint_attr *attr) {
    constexpr const char *call = "fult_comm_endpoint_subset";
    if (!the_context())
        return reject_without_context();
    if (!made)
        return reject_argument(call, "there is no place for the endpoint");
    return perform(parent, call, [&](endpoint &ep) {
        *made = std::make_unique<fult_comm_endpoint>(
                    ep.subset({given(ranks, count, no_list), count}, tag, endpoint_options_of(attr, call)))
                    .release();
        the_context()->left.fetch_add(1, std::memory_order_relaxed);
    });
}

int fult_comm_endpoint_rank(fult_comm_endpoint_t one) { return one ? one->object.rank() : -1; }
int fult_comm_endpoint_size(fult_comm_endpoint_t one) { return one ? one->object.size() : 0; }
int fult_comm_world_rank(fult_comm_endpoint_t one, int rank) {
    return one ? one->object.world_rank(rank) : -1;
}
