// Large arrays, and whether they fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "apps/support/failure.hpp"

namespace hpccg {

using apps::failure;

// Bytes that this process may still get: what the system has left, within the limits of its control group and
// of `ulimit -v`.
std::uint64_t available_bytes();

// "1.5 GiB" and the like.
std::string in_words(std::uint64_t bytes);

// Throws a failure that tells what is needed and what there is.
void require_bytes(const std::string &what, std::uint64_t needed, std::uint64_t available);

// Pages of the system, which appear where they are first written: by the worker that will use them.
void *map_pages(std::size_t bytes);
void unmap_pages(void *pages, std::size_t bytes) noexcept;

// An array that nobody has written yet; it reads as zeros.
template <class T> class array {
    static_assert(std::is_trivial_v<T>);

  public:
    array() = default;
    explicit array(std::size_t size) : data_(static_cast<T *>(map_pages(size * sizeof(T)))), size_(size) {}
    array(array &&other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    array &operator=(array &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~array() { unmap_pages(data_, size_ * sizeof(T)); }

    T *data() noexcept { return data_; }
    const T *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }
    T &operator[](std::size_t index) noexcept { return data_[index]; }
    const T &operator[](std::size_t index) const noexcept { return data_[index]; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace hpccg
