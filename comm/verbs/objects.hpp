// Owning pointers to the objects of libibverbs, and errors of their creation.
#pragma once

#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "comm/base/descriptor_limit.hpp"
#include "comm/verbs/library.hpp"

namespace fult::comm::detail {

struct verbs_closer {
    void operator()(ibv_context *object) const noexcept { libibverbs().close_device(object); }
    void operator()(ibv_pd *object) const noexcept { libibverbs().dealloc_pd(object); }
    void operator()(ibv_mr *object) const noexcept { libibverbs().dereg_mr(object); }
    void operator()(ibv_comp_channel *object) const noexcept { libibverbs().destroy_comp_channel(object); }
    void operator()(ibv_cq *object) const noexcept { libibverbs().destroy_cq(object); }
    void operator()(ibv_srq *object) const noexcept { libibverbs().destroy_srq(object); }
    void operator()(ibv_qp *object) const noexcept { libibverbs().destroy_qp(object); }
    void operator()(ibv_ah *object) const noexcept { libibverbs().destroy_ah(object); }
};

template <class T> using verbs_ptr = std::unique_ptr<T, verbs_closer>;

// The device and port, for messages.
inline std::string port_name(const std::string &device, unsigned port) {
    return device + ":" + std::to_string(port);
}

// What to do about an error of libibverbs.
inline std::string verbs_remedy(int error) {
    if (const char *lacking = descriptor_shortage(error))
        return "; " + std::string(lacking);
    if (error == ENOMEM)
        return "; raise the limit of locked memory (`ulimit -l`), see docs/verbs.md";
    if (error == EACCES || error == EPERM)
        return "; this user may not open /dev/infiniband/uverbs*, see docs/verbs.md";
    return "";
}

// Throws a description of errno.
[[noreturn]] inline void throw_verbs_error(const std::string &port, const char *call) {
    const int error = errno;
    throw std::runtime_error("fult-comm: verbs on " + port + ": " + call + ": " + std::strerror(error) +
                             verbs_remedy(error));
}

// Takes ownership of what a call has created.
template <class T> verbs_ptr<T> take_created(T *object, const std::string &port, const char *call) {
    if (object == nullptr)
        throw_verbs_error(port, call);
    return verbs_ptr<T>(object);
}

// A work request of one segment.
inline ibv_send_wr make_request(std::uint64_t id, ibv_sge &segment, ibv_wr_opcode opcode, bool signaled,
                                unsigned flags = 0) noexcept {
    ibv_send_wr request{};
    request.wr_id = id;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = flags | (signaled ? unsigned{IBV_SEND_SIGNALED} : 0U);
    return request;
}

} // namespace fult::comm::detail
