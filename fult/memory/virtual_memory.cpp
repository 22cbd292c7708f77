#include "virtual_memory.hpp"

#include <cerrno>
#include <cstdint>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fult/detail/address.hpp>

namespace fult::detail {
namespace {
constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
}

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

void *map_pages(std::size_t bytes) noexcept {
    void *begin = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return begin == MAP_FAILED ? nullptr : begin;
}

bool map_pages_at(void *begin, std::size_t bytes) noexcept {
    void *const there = ::mmap(begin, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (there == begin)
        return true;
    if (there != MAP_FAILED) { // before Linux 4.17 the flag is ignored
        ::munmap(there, bytes);
        errno = EEXIST;
    }
    return false;
}

void unmap_pages(void *begin, std::size_t bytes) noexcept { ::munmap(begin, bytes); }

void discard_pages(void *begin, std::size_t bytes) noexcept { ::madvise(begin, bytes, MADV_DONTNEED); }

void *reserve_aligned(std::size_t bytes, std::size_t alignment, void *preferred) noexcept {
    if (preferred) {
        void *there = ::mmap(preferred, bytes, PROT_NONE, flags, -1, 0);
        if (there != MAP_FAILED && address_of(there) % alignment == 0)
            return there;
        if (there != MAP_FAILED)
            ::munmap(there, bytes);
    }
    void *raw = ::mmap(nullptr, bytes + alignment, PROT_NONE, flags, -1, 0);
    if (raw == MAP_FAILED)
        return nullptr;
    const auto start = address_of(raw);
    const std::uintptr_t aligned = (start + alignment - 1) & ~(alignment - 1);
    if (aligned != start)
        ::munmap(raw, aligned - start);
    const std::uintptr_t rest = start + alignment - aligned;
    if (rest != 0)
        ::munmap(at_address<void>(aligned + bytes), rest);
    return at_address<void>(aligned);
}

void *reserve_pages(std::size_t bytes) noexcept {
    void *begin = ::mmap(nullptr, bytes, PROT_NONE, flags, -1, 0);
    return begin == MAP_FAILED ? nullptr : begin;
}

bool make_usable(void *begin, std::size_t bytes) noexcept {
    return ::mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

std::size_t address_space_limit() noexcept {
    rlimit most{};
    return ::getrlimit(RLIMIT_AS, &most) != 0 || most.rlim_cur == RLIM_INFINITY ? ~std::size_t{0}
                                                                                : most.rlim_cur;
}

void prefer_huge_pages(void *begin, std::size_t bytes) noexcept { ::madvise(begin, bytes, MADV_HUGEPAGE); }

} // namespace fult::detail
