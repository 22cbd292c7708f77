// Zeroed memory from the system; in huge pages if it is large, as hash table accesses are random. Not if it
// is small: the system may take milliseconds to allocate a huge page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

class zeroed_memory {
  public:
    zeroed_memory() = default;
    // Empty if there is no memory.
    explicit zeroed_memory(std::size_t bytes) noexcept {
        FULT_ASSERT(bytes != 0);
        const std::size_t align = bytes <= small ? 0 : large_page;
        void *const base = ::mmap(nullptr, bytes + align, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            return;
        base_ = data_ = base;
        mapped_ = bytes + align;
        if (align != 0) {
            data_ = static_cast<char *>(base) + (-fult::detail::address_of(base) & (align - 1));
            ::madvise(data_, bytes, MADV_HUGEPAGE); // may be refused
            FULT_ASSERT(static_cast<char *>(data_) + bytes <= static_cast<char *>(base_) + mapped_);
        }
    }
    zeroed_memory(zeroed_memory &&other) noexcept { swap(other); }
    zeroed_memory &operator=(zeroed_memory &&other) noexcept {
        zeroed_memory(std::move(other)).swap(*this);
        return *this;
    }
    ~zeroed_memory() {
        if (base_)
            ::munmap(base_, mapped_);
    }
    void swap(zeroed_memory &other) noexcept {
        std::swap(base_, other.base_);
        std::swap(data_, other.data_);
        std::swap(mapped_, other.mapped_);
    }
    explicit operator bool() const noexcept { return base_ != nullptr; }
    template <class T> T *as() const noexcept { return static_cast<T *>(data_); }

  private:
    static constexpr std::size_t large_page = std::size_t{2} << 20, small = std::size_t{4} << 20;
    void *base_ = nullptr, *data_ = nullptr;
    std::size_t mapped_ = 0;
};

} // namespace fult::comm::detail
