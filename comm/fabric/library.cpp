#include "comm/fabric/library.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

#include "comm/base/descriptor_limit.hpp"
#include "comm/fabric/kept_signals.hpp"

namespace fult::comm::detail {
namespace {

template <class F> void find(void *library, F &function, const char *name) {
    function = reinterpret_cast<F>(::dlsym(library, name));
    if (function == nullptr)
        throw std::runtime_error(std::string("fult-comm: libfabric.so.1 has no ") + name +
                                 ": version 1.9 or later is needed");
}

// libfabric's structures grow only at their ends and are allocated by the library, so the newest version of
// each function works for code compiled with older headers.
fabric_library load() {
    const kept_signals signals;
    void *const library = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char *lacking = lack_of_descriptors(0);
        throw std::runtime_error(
            std::string("fult-comm: libfabric does not load (") + ::dlerror() +
            "): " + (lacking ? lacking : "install libfabric1, or put its directory into LD_LIBRARY_PATH"));
    }
    fabric_library found{};
    find(library, found.getinfo, "fi_getinfo");
    find(library, found.freeinfo, "fi_freeinfo");
    find(library, found.dupinfo, "fi_dupinfo");
    find(library, found.fabric, "fi_fabric");
    find(library, found.strerror, "fi_strerror");
    return found;
}

} // namespace

const fabric_library &libfabric() {
    static const fabric_library loaded = load();
    return loaded;
}

} // namespace fult::comm::detail
