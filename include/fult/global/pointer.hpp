/// @file
/// Global pointers: the place of an object in the heap of any rank. Source: section 2.3 of PPL ("gptr").
#pragma once

#include <fult/detail/language.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <type_traits>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::global {

/// The most ranks of a global memory, and the most bytes of one rank's heap.
inline constexpr int max_ranks = 1 << 20;
/// See max_ranks.
inline constexpr std::uint64_t max_heap_bytes = std::uint64_t{1} << 43;

/// @cond internal
namespace detail {

// A rank and an offset in its heap, in one word: rank + 1 in the upper 21 bits, so that zero is no place.
class place {
  public:
    constexpr place() noexcept = default;
    constexpr place(int rank, std::uint64_t offset) noexcept
        : word_((static_cast<std::uint64_t>(rank) + 1) << offset_bits | offset) {
        FULT_ASSERT(rank >= 0 && rank < max_ranks && offset < max_heap_bytes, "a place in some heap");
    }
    constexpr int rank() const noexcept { return static_cast<int>(word_ >> offset_bits) - 1; }
    constexpr std::uint64_t offset() const noexcept { return word_ & (max_heap_bytes - 1); }
    constexpr std::uint64_t word() const noexcept { return word_; }
    constexpr place moved(std::int64_t bytes) const noexcept {
        place there = *this;
        there.word_ += static_cast<std::uint64_t>(bytes);
        FULT_ASSERT(there.word_ >> offset_bits == word_ >> offset_bits, "arithmetic stays in one heap");
        return there;
    }
    friend constexpr auto operator<=>(place, place) noexcept = default;

  private:
    static constexpr unsigned offset_bits = 43;
    static_assert(max_heap_bytes == std::uint64_t{1} << offset_bits);
    static_assert(max_ranks < 1 << (64 - offset_bits), "a rank + 1 fits");
    std::uint64_t word_ = 0;
};
FULT_API std::string to_string(place where); // "2:0x40"; "null"

// Objects in global memory are moved as bytes. Called where T is complete: a list's node contains pointers to
// nodes.
template <class T> constexpr bool is_element = std::is_trivially_copyable_v<T>;
template <class T> constexpr void check_element() noexcept {
    static_assert(is_element<T>,
                  "fult::global: objects in global memory are copied between ranks as bytes: their type must "
                  "be trivially copyable; replace members that own memory by global pointers or arrays");
}

} // namespace detail
/// @endcond

/// Points to an object in the heap of a rank. A plain value of 8 bytes: it may be sent in a message, passed
/// to spawn_at and lie in global memory, where compare_exchange changes it; zero bytes are a null pointer.
/// Like other pointers it becomes invalid when its object is deallocated. T may be incomplete until it is
/// accessed. All functions are constant-time and never suspend.
template <class T> class global_ptr {
  public:
    using element_type = T; ///< what it points to

    constexpr global_ptr() noexcept = default;       ///< null
    constexpr global_ptr(std::nullptr_t) noexcept {} ///< null
    /// To byte `offset` of the heap of a rank.
    constexpr global_ptr(int rank, std::uint64_t offset) noexcept : where_(rank, offset) {}
    /// @cond internal
    constexpr explicit global_ptr(detail::place where) noexcept : where_(where) {}
    constexpr detail::place where() const noexcept { return where_; }
    /// @endcond
    /// To a constant object.
    template <class U>
    requires(std::is_convertible_v<U (*)[], T (*)[]> &&
             !std::is_same_v<U, T>) constexpr global_ptr(global_ptr<U> other) noexcept
        : where_(other.where()) {}

    /// The owner of the object, a rank of the global memory; -1 for null.
    constexpr int rank() const noexcept { return where_.rank(); }
    /// In bytes from the begin of the owner's heap.
    constexpr std::uint64_t offset() const noexcept { return where_.offset(); }
    /// False for null.
    constexpr explicit operator bool() const noexcept { return where_.word() != 0; }

    /// A part of the object, of type U: `p.template field<int>(offsetof(node, count))`.
    template <class U> constexpr global_ptr<U> field(std::size_t bytes) const noexcept {
        return global_ptr<U>(where_.moved(static_cast<std::int64_t>(bytes)));
    }

    /// Arithmetic is in elements, within one allocation.
    constexpr global_ptr &operator+=(std::ptrdiff_t count) noexcept {
        where_ = where_.moved(count * static_cast<std::ptrdiff_t>(sizeof(T)));
        return *this;
    }
    /// See operator+=.
    constexpr global_ptr &operator-=(std::ptrdiff_t count) noexcept { return *this += -count; }
    /// See operator+=.
    constexpr global_ptr &operator++() noexcept { return *this += 1; }
    /// See operator+=.
    constexpr global_ptr &operator--() noexcept { return *this += -1; }
    /// See operator+=.
    constexpr global_ptr operator++(int) noexcept {
        const global_ptr before = *this;
        ++*this;
        return before;
    }
    /// See operator+=.
    constexpr global_ptr operator--(int) noexcept {
        const global_ptr before = *this;
        --*this;
        return before;
    }
    /// See operator+=.
    friend constexpr global_ptr operator+(global_ptr p, std::ptrdiff_t count) noexcept { return p += count; }
    /// See operator+=.
    friend constexpr global_ptr operator+(std::ptrdiff_t count, global_ptr p) noexcept { return p += count; }
    /// See operator+=.
    friend constexpr global_ptr operator-(global_ptr p, std::ptrdiff_t count) noexcept { return p -= count; }
    /// The number of elements between two pointers into one allocation.
    friend constexpr std::ptrdiff_t operator-(global_ptr a, global_ptr b) noexcept {
        FULT_ASSERT(a.rank() == b.rank(), "a difference is of pointers into one heap");
        return (static_cast<std::ptrdiff_t>(a.offset()) - static_cast<std::ptrdiff_t>(b.offset())) /
               static_cast<std::ptrdiff_t>(sizeof(T));
    }
    /// By rank, then by offset; null comes first.
    friend constexpr auto operator<=>(global_ptr a, global_ptr b) noexcept = default;

    /// "2:0x40": the rank and the offset; "null".
    std::string to_string() const { return detail::to_string(where_); }
    /// Prints to_string.
    template <class Traits>
    friend std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, global_ptr p) {
        return out << p.to_string().c_str();
    }

  private:
    detail::place where_;
};

static_assert(sizeof(global_ptr<int>) == 8 && std::is_trivially_copyable_v<global_ptr<int>>);

} // namespace fult::global

/// @cond internal
namespace std {
// For unordered containers of global pointers: mixes all bits.
template <class T> struct hash<fult::global::global_ptr<T>> {
    size_t operator()(fult::global::global_ptr<T> p) const noexcept {
        const fult::global::detail::place where = p.where();
        const uint64_t mixed = where.word() * 0x9e3779b97f4a7c15U;
        return static_cast<size_t>(mixed ^ mixed >> 32);
    }
};
} // namespace std
/// @endcond
