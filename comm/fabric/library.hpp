// The functions of libfabric, loaded when the first transport needs them: loading it also loads the libraries
// of all its providers, some of which take over the program's signals before main begins (signal_guard.hpp).
// Programs that do not use the network avoid this.
//
// The inline functions in libfabric's headers call through tables in its objects and are not listed here.
#pragma once

#include <rdma/fabric.h>

namespace fult::comm::detail {

struct fabric_library {
    decltype(&::fi_getinfo) getinfo;
    decltype(&::fi_freeinfo) freeinfo;
    decltype(&::fi_dupinfo) dupinfo;
    decltype(&::fi_fabric) fabric;
    decltype(&::fi_strerror) strerror;
};

// Loaded by the first call and never unloaded; signal actions are preserved. Any thread. Throws
// std::runtime_error with the remedy if the library is missing or too old.
const fabric_library &libfabric();

} // namespace fult::comm::detail
