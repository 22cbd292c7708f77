#include "comm/fabric/library.hpp"

#include "comm/base/loaded_library.hpp"
#include "comm/fabric/signal_guard.hpp"

namespace fult::comm::detail {
namespace {

constexpr loaded_library::description libfabric_file{
    "libfabric", "libfabric.so.1", "install libfabric1, or put its directory into LD_LIBRARY_PATH",
    "version 1.9"};

// libfabric's structures grow only at their ends and are allocated by the library, so the newest version of
// each function works for code compiled with older headers.
fabric_library load() {
    const signal_guard signals;
    const loaded_library library(libfabric_file);
    fabric_library found{};
    library.find(found.getinfo, "fi_getinfo");
    library.find(found.freeinfo, "fi_freeinfo");
    library.find(found.dupinfo, "fi_dupinfo");
    library.find(found.fabric, "fi_fabric");
    library.find(found.strerror, "fi_strerror");
    return found;
}

} // namespace

const fabric_library &libfabric() {
    static const fabric_library loaded = load();
    return loaded;
}

} // namespace fult::comm::detail
