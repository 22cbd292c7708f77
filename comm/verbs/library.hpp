// libibverbs, loaded when it is needed: a program that is built with verbs also runs where that library is
// not installed. What posts and polls is inline in its header and goes through the device's own table of
// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>

#include "comm/base/loaded_library.hpp"

namespace fult::comm::detail {

struct verbs_library {
    loaded_library library{{"libibverbs", "libibverbs.so.1",
                            "install libibverbs1 and ibverbs-providers, or use another FULT_COMM_NETWORK",
                            "rdma-core 32"}};
    decltype(&::ibv_get_device_list) get_device_list = library["ibv_get_device_list"];
    decltype(&::ibv_free_device_list) free_device_list = library["ibv_free_device_list"];
    decltype(&::ibv_get_device_name) get_device_name = library["ibv_get_device_name"];
    decltype(&::ibv_open_device) open_device = library["ibv_open_device"];
    decltype(&::ibv_close_device) close_device = library["ibv_close_device"];
    decltype(&::ibv_query_device) query_device = library["ibv_query_device"];
    // The next two: macros hide their names.
    int (*query_port)(ibv_context *, std::uint8_t, ibv_port_attr *) = library["ibv_query_port"];
    decltype(&::_ibv_query_gid_ex) query_gid = library["_ibv_query_gid_ex"];
    decltype(&::ibv_alloc_pd) alloc_pd = library["ibv_alloc_pd"];
    decltype(&::ibv_dealloc_pd) dealloc_pd = library["ibv_dealloc_pd"];
    ibv_mr *(*reg_mr)(ibv_pd *, void *, std::size_t, int) = library["ibv_reg_mr"];
    decltype(&::ibv_dereg_mr) dereg_mr = library["ibv_dereg_mr"];
    decltype(&::ibv_create_comp_channel) create_comp_channel = library["ibv_create_comp_channel"];
    decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = library["ibv_destroy_comp_channel"];
    decltype(&::ibv_create_cq) create_cq = library["ibv_create_cq"];
    decltype(&::ibv_destroy_cq) destroy_cq = library["ibv_destroy_cq"];
    decltype(&::ibv_get_cq_event) get_cq_event = library["ibv_get_cq_event"];
    decltype(&::ibv_ack_cq_events) ack_cq_events = library["ibv_ack_cq_events"];
    decltype(&::ibv_create_srq) create_srq = library["ibv_create_srq"];
    decltype(&::ibv_destroy_srq) destroy_srq = library["ibv_destroy_srq"];
    decltype(&::ibv_create_qp) create_qp = library["ibv_create_qp"];
    decltype(&::ibv_modify_qp) modify_qp = library["ibv_modify_qp"];
    decltype(&::ibv_destroy_qp) destroy_qp = library["ibv_destroy_qp"];
    decltype(&::ibv_create_ah) create_ah = library["ibv_create_ah"];
    decltype(&::ibv_destroy_ah) destroy_ah = library["ibv_destroy_ah"];
    decltype(&::ibv_wc_status_str) wc_status_str = library["ibv_wc_status_str"];
};

// Throws std::runtime_error if it is not installed, or too old.
inline const verbs_library &libibverbs() {
    static const verbs_library loaded;
    return loaded;
}

} // namespace fult::comm::detail
