#include "comm/base/loaded_library.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

#include "comm/base/descriptor_limit.hpp"

namespace fult::comm::detail {

loaded_library::loaded_library(const description &what)
    : what_(what), loaded_(::dlopen(what.file, RTLD_NOW | RTLD_LOCAL)) {
    if (loaded_ != nullptr)
        return;
    const char *lacking = descriptor_shortage(0);
    throw std::runtime_error(std::string("fult-comm: ") + what.name + " does not load (" + ::dlerror() +
                             "): " + (lacking ? lacking : what.remedy));
}

loaded_library::function loaded_library::operator[](const char *name) const {
    void *const found = ::dlsym(loaded_, name);
    if (found == nullptr)
        throw std::runtime_error(std::string("fult-comm: ") + what_.file + " has no " + name + ": " +
                                 what_.least + " or later is needed");
    return {found};
}

} // namespace fult::comm::detail
