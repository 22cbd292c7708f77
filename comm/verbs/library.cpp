#include "comm/verbs/library.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

#include "comm/base/descriptor_limit.hpp"

namespace fult::comm::detail {
namespace {

template <class F> void find_verb(void *library, F &function, const char *name) {
    function = reinterpret_cast<F>(::dlsym(library, name));
    if (function == nullptr)
        throw std::runtime_error(std::string("fult-comm: libibverbs.so.1 has no ") + name +
                                 ": rdma-core 32 or later is needed");
}

verbs_library load_verbs() {
    void *const library = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char *lacking = lack_of_descriptors(0);
        throw std::runtime_error(
            std::string("fult-comm: libibverbs does not load (") + ::dlerror() + "): " +
            (lacking ? lacking
                     : "install libibverbs1 and ibverbs-providers, or use another FULT_COMM_NETWORK"));
    }
    verbs_library found{};
    find_verb(library, found.get_device_list, "ibv_get_device_list");
    find_verb(library, found.free_device_list, "ibv_free_device_list");
    find_verb(library, found.get_device_name, "ibv_get_device_name");
    find_verb(library, found.open_device, "ibv_open_device");
    find_verb(library, found.close_device, "ibv_close_device");
    find_verb(library, found.query_device, "ibv_query_device");
    find_verb(library, found.query_port, "ibv_query_port");
    find_verb(library, found.query_gid, "_ibv_query_gid_ex");
    find_verb(library, found.alloc_pd, "ibv_alloc_pd");
    find_verb(library, found.dealloc_pd, "ibv_dealloc_pd");
    find_verb(library, found.reg_mr, "ibv_reg_mr");
    find_verb(library, found.dereg_mr, "ibv_dereg_mr");
    find_verb(library, found.create_comp_channel, "ibv_create_comp_channel");
    find_verb(library, found.destroy_comp_channel, "ibv_destroy_comp_channel");
    find_verb(library, found.create_cq, "ibv_create_cq");
    find_verb(library, found.destroy_cq, "ibv_destroy_cq");
    find_verb(library, found.get_cq_event, "ibv_get_cq_event");
    find_verb(library, found.ack_cq_events, "ibv_ack_cq_events");
    find_verb(library, found.create_srq, "ibv_create_srq");
    find_verb(library, found.destroy_srq, "ibv_destroy_srq");
    find_verb(library, found.create_qp, "ibv_create_qp");
    find_verb(library, found.modify_qp, "ibv_modify_qp");
    find_verb(library, found.destroy_qp, "ibv_destroy_qp");
    find_verb(library, found.create_ah, "ibv_create_ah");
    find_verb(library, found.destroy_ah, "ibv_destroy_ah");
    find_verb(library, found.wc_status_str, "ibv_wc_status_str");
    return found;
}

} // namespace

const verbs_library &libibverbs() {
    static const verbs_library loaded = load_verbs();
    return loaded;
}

} // namespace fult::comm::detail
