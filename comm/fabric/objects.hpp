// Owning pointers to libfabric's objects.
#pragma once

#include <memory>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdexcept>
#include <string>

#include "comm/base/descriptor_limit.hpp"
#include "comm/fabric/library.hpp"

namespace fult::comm::detail {

struct fid_closer {
    template <class T> void operator()(T *object) const noexcept { fi_close(&object->fid); }
};

template <class T> using fid_ptr = std::unique_ptr<T, fid_closer>;

struct info_freer {
    void operator()(fi_info *info) const noexcept { libfabric().freeinfo(info); }
};

using info_ptr = std::unique_ptr<fi_info, info_freer>;

inline std::string fabric_error(long result) {
    return libfabric().strerror(static_cast<int>(result < 0 ? -result : result));
}

// Checks the result of a setup call. Throws a description of the failure.
inline void check_result(long result, const std::string &provider, const char *call) {
    if (result == 0)
        return;
    const char *lacking = descriptor_shortage(static_cast<int>(result < 0 ? -result : result));
    throw std::runtime_error("libfabric's provider '" + provider + "': " + call + ": " +
                             fabric_error(result) + (lacking ? std::string("; ") + lacking : std::string()));
}

} // namespace fult::comm::detail
