#include "comm/verbs/library.hpp"

#include "comm/base/loaded_library.hpp"

namespace fult::comm::detail {
namespace {

constexpr loaded_library::description libibverbs_file{
    "libibverbs", "libibverbs.so.1",
    "install libibverbs1 and ibverbs-providers, or use another FULT_COMM_NETWORK", "rdma-core 32"};

verbs_library load_verbs() {
    const loaded_library library(libibverbs_file);
    verbs_library found{};
    library.find(found.get_device_list, "ibv_get_device_list");
    library.find(found.free_device_list, "ibv_free_device_list");
    library.find(found.get_device_name, "ibv_get_device_name");
    library.find(found.open_device, "ibv_open_device");
    library.find(found.close_device, "ibv_close_device");
    library.find(found.query_device, "ibv_query_device");
    library.find(found.query_port, "ibv_query_port");
    library.find(found.query_gid, "_ibv_query_gid_ex");
    library.find(found.alloc_pd, "ibv_alloc_pd");
    library.find(found.dealloc_pd, "ibv_dealloc_pd");
    library.find(found.reg_mr, "ibv_reg_mr");
    library.find(found.dereg_mr, "ibv_dereg_mr");
    library.find(found.create_comp_channel, "ibv_create_comp_channel");
    library.find(found.destroy_comp_channel, "ibv_destroy_comp_channel");
    library.find(found.create_cq, "ibv_create_cq");
    library.find(found.destroy_cq, "ibv_destroy_cq");
    library.find(found.get_cq_event, "ibv_get_cq_event");
    library.find(found.ack_cq_events, "ibv_ack_cq_events");
    library.find(found.create_srq, "ibv_create_srq");
    library.find(found.destroy_srq, "ibv_destroy_srq");
    library.find(found.create_qp, "ibv_create_qp");
    library.find(found.modify_qp, "ibv_modify_qp");
    library.find(found.destroy_qp, "ibv_destroy_qp");
    library.find(found.create_ah, "ibv_create_ah");
    library.find(found.destroy_ah, "ibv_destroy_ah");
    library.find(found.wc_status_str, "ibv_wc_status_str");
    return found;
}

} // namespace

const verbs_library &libibverbs() {
    static const verbs_library loaded = load_verbs();
    return loaded;
}

} // namespace fult::comm::detail
