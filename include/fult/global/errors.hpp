/// @file
/// Errors of global memory.
#pragma once

#include <fult/detail/language.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include <fult/detail/platform.hpp>

namespace fult::global {

/// A heap has no room. Its text names the rank, the size, and what is in use.
class FULT_API heap_exhausted : public std::bad_alloc {
  public:
    /// Called by the library.
    heap_exhausted(int rank, std::uint64_t size, const std::string &text);
    heap_exhausted(const heap_exhausted &) noexcept = default;            ///< shares the text
    heap_exhausted &operator=(const heap_exhausted &) noexcept = default; ///< shares the text
    ~heap_exhausted() override;
    /// The text.
    const char *what() const noexcept override;
    /// Whose heap.
    int rank() const noexcept { return rank_; }
    /// The bytes that were requested.
    std::uint64_t size() const noexcept { return size_; }

  private:
    int rank_;
    std::uint64_t size_;
    std::runtime_error text_; // copies of it do not throw
};

} // namespace fult::global
