#include "other_libraries.hpp"

#include <atomic>
#include <cstdio>
#include <link.h>
#include <string_view>

#include <fult/detail/address.hpp>

#include "error.hpp"

namespace fult::omp {
namespace {

bool is_openmp_library(std::string_view path) noexcept {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const std::string_view each : {"libgomp", "libomp", "libiomp5"})
        if (name.starts_with(each) && name.size() > each.size() &&
            (name[each.size()] == '.' || name[each.size()] == '-'))
            return name.find("-plugin") == name.npos;
    return false;
}

// Ours are linked to the library that this file is part of.
bool is_ours(const dl_phdr_info &object) noexcept {
    const ElfW(Dyn) *dynamic = nullptr;
    for (int i = 0; i < object.dlpi_phnum; ++i)
        if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = detail::at_address<const ElfW(Dyn)>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    const char *names = nullptr;
    for (const ElfW(Dyn) *each = dynamic; each && each->d_tag != DT_NULL; ++each)
        if (each->d_tag == DT_STRTAB) // an address, or, where the section cannot be written, an offset
            names = detail::at_address<const char>(
                each->d_un.d_ptr < object.dlpi_addr ? object.dlpi_addr + each->d_un.d_ptr : each->d_un.d_ptr);
    for (const ElfW(Dyn) *each = dynamic; names && each->d_tag != DT_NULL; ++each)
        if (each->d_tag == DT_NEEDED &&
            std::string_view(names + each->d_un.d_val).starts_with("libfult-omp.so"))
            return true;
    return false;
}

struct found_path {
    char text[1024] = "";
};

int look_at(dl_phdr_info *object, std::size_t, void *found) noexcept {
    if (!object->dlpi_name || !is_openmp_library(object->dlpi_name) || is_ours(*object))
        return 0;
    auto &into = *static_cast<found_path *>(found);
    std::snprintf(into.text, sizeof into.text, "%s", object->dlpi_name);
    return 1;
}

} // namespace

void report_other_libraries() noexcept {
    static constinit std::atomic<bool> reported{false};
    // Not by dlopen: its lock may be held by a thread that waits for this one.
    found_path other;
    if (dl_iterate_phdr(look_at, &other) && !reported.exchange(true, std::memory_order_relaxed))
        warn("%s is loaded beside FULT's OpenMP library: what is linked to it may run on threads of its own. "
             "fult-omp replaces libgomp and libomp wherever they are",
             other.text);
}

} // namespace fult::omp
