// The functions of libfabric, loaded when the first transport needs them: loading it also loads the libraries
// of all its providers, some of which take over the program's signals before main begins (signal_guard.hpp).
// Programs that do not use the network avoid this.
//
// The inline functions in libfabric's headers call through tables in its objects and are not listed here.
#pragma once

#include <rdma/fabric.h>

#include "comm/base/loaded_library.hpp"
#include "comm/fabric/signal_guard.hpp"

namespace fult::comm::detail {

// libfabric's structures grow only at their ends and are allocated by the library, so the newest version of
// each function works for code compiled with older headers.
struct fabric_library {
    loaded_library library{{"libfabric", "libfabric.so.1",
                            "install libfabric1, or put its directory into LD_LIBRARY_PATH", "version 1.9"}};
    decltype(&::fi_getinfo) getinfo = library["fi_getinfo"];
    decltype(&::fi_freeinfo) freeinfo = library["fi_freeinfo"];
    decltype(&::fi_dupinfo) dupinfo = library["fi_dupinfo"];
    decltype(&::fi_fabric) fabric = library["fi_fabric"];
    decltype(&::fi_strerror) strerror = library["fi_strerror"];
};

// Loaded by the first call and never unloaded; signal actions are preserved. Any thread. Throws
// std::runtime_error with the remedy if the library is missing or too old.
inline const fabric_library &libfabric() {
    static const fabric_library loaded = [] {
        const signal_guard signals;
        return fabric_library();
    }();
    return loaded;
}

} // namespace fult::comm::detail
