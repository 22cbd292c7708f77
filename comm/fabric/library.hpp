// The functions of libfabric's library, loaded when the first transport needs it: with it come the libraries
// of all its providers, some of which take the program's signals before main begins (kept_signals.hpp). A
// program that never uses the network is spared them.
//
// What libfabric defines in its headers calls through tables in its objects and needs none of these.
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

// Loaded at the first call and never unloaded; signals do afterwards what they did before. Any thread. Throws
// std::runtime_error where the library is missing or too old, with what to do.
const fabric_library &libfabric();

} // namespace fult::comm::detail
