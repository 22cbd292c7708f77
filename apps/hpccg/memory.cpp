#include "memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hpccg {
namespace {
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t left_in_system() {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    for (std::uint64_t kib; file >> name >> kib; std::getline(file, unit))
        if (name == "MemAvailable:")
            return kib * 1024;
    return unlimited;
}

std::uint64_t read_number(const char *path) {
    std::ifstream file(path);
    std::uint64_t value;
    return file >> value ? value : unlimited; // no such file, or the word "max"
}

std::uint64_t left_in_group() {
    const std::uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    const std::uint64_t used = read_number("/sys/fs/cgroup/memory.current");
    if (limit == unlimited || used == unlimited)
        return unlimited;
    return limit - std::min(limit, used);
}

std::uint64_t left_in_address_space() {
    rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return unlimited;
    std::ifstream statm("/proc/self/statm");
    std::uint64_t pages = 0;
    statm >> pages;
    const std::uint64_t used = pages * std::uint64_t(sysconf(_SC_PAGESIZE));
    return limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, used);
}
} // namespace

std::uint64_t available_bytes() {
    return std::min({left_in_system(), left_in_group(), left_in_address_space()});
}

std::string in_words(std::uint64_t bytes) {
    const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = double(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < std::size(units)) {
        value /= 1024;
        ++unit;
    }
    char text[40];
    std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

void require_bytes(const std::string &what, std::uint64_t needed, std::uint64_t available) {
    if (needed > available)
        throw failure(what + " needs " + in_words(needed) + " of memory, and " + in_words(available) +
                      " are available; take a smaller one");
}

void *map_pages(std::size_t bytes) {
    if (bytes == 0)
        return nullptr;
    void *pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        throw failure("the system refuses " + in_words(bytes) + " of memory: " + std::strerror(errno));
    // Without them most accesses to the matrix would miss the table of translations. A wish: may be refused.
    if (bytes >= std::size_t{4} << 20)
        madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

void unmap_pages(void *pages, std::size_t bytes) noexcept {
    if (pages)
        munmap(pages, bytes);
}

} // namespace hpccg
