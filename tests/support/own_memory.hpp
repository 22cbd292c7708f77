// What the system says about this process's memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sys/resource.h>

namespace fult::testing {

inline constexpr std::size_t mib = std::size_t{1} << 20;

// Bytes of this range that can be written.
inline std::size_t writable_bytes(const void *begin, std::size_t bytes) {
    const auto low = reinterpret_cast<std::uintptr_t>(begin), high = low + bytes;
    std::size_t sum = 0;
    if (std::FILE *file = std::fopen("/proc/self/maps", "re")) {
        char line[512];
        while (std::fgets(line, sizeof line, file)) {
            std::uintptr_t from = 0, to = 0;
            char may[8] = "";
            if (std::sscanf(line, "%zx-%zx %7s", &from, &to, may) == 3 && may[1] == 'w' && from < high &&
                to > low)
                sum += std::min(to, high) - std::max(from, low);
        }
        std::fclose(file);
    }
    return sum;
}

// Number of mappings that lie in this range, at least in part.
inline std::size_t mappings_in(const void *begin, std::size_t bytes) {
    const auto low = reinterpret_cast<std::uintptr_t>(begin), high = low + bytes;
    std::size_t count = 0;
    if (std::FILE *file = std::fopen("/proc/self/maps", "re")) {
        char line[512];
        std::uintptr_t from = 0, to = 0;
        while (std::fgets(line, sizeof line, file))
            if (std::sscanf(line, "%zx-%zx", &from, &to) == 2 && from < high && to > low)
                ++count;
        std::fclose(file);
    }
    return count;
}

// A line of /proc/self/status, such as "VmRSS:", in KiB.
inline std::size_t status_kib(const char *name) {
    std::size_t kib = 0;
    if (std::FILE *file = std::fopen("/proc/self/status", "re")) {
        char line[256];
        while (std::fgets(line, sizeof line, file))
            if (std::strncmp(line, name, std::strlen(name)) == 0)
                std::sscanf(line + std::strlen(name), "%zu", &kib);
        std::fclose(file);
    }
    return kib;
}

// `ulimit -v`: so much more than there is now. False where that is not allowed.
inline bool limit_address_space_to(std::size_t more) {
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (status_kib("VmSize:") << 10) + more;
    return ::setrlimit(RLIMIT_AS, &limit) == 0;
}

} // namespace fult::testing
