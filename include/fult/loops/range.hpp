// Ranges of indices and of iterators, with their lengths.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include <fult/loops/schedule.hpp>

namespace fult::detail {

template <class I>
concept loop_index = std::integral<I> && !std::same_as<std::remove_cv_t<I>, bool>;

// Indices from `first` on, counted in std::size_t, which holds every difference.
template <class I> struct index_range {
    using position = I;
    I first;
    I at(std::size_t offset) const noexcept {
        // modulo 2^n, hence correct for negative indices
        return static_cast<I>(static_cast<std::size_t>(first) + offset);
    }
    static I element(I i) noexcept { return i; }
};

// Elements from an iterator on.
template <class I> struct iterator_range {
    using position = I;
    I first;
    I at(std::size_t offset) const { return first + static_cast<std::iter_difference_t<I>>(offset); }
    static decltype(auto) element(const I &i) { return *i; }
};

template <class First, class Last> struct counted_range;

template <loop_index First, loop_index Last> struct counted_range<First, Last> {
    using index = std::common_type_t<First, Last>;
    index_range<index> range;
    std::size_t count;

    counted_range(const char *call, First first, Last last)
        : range{static_cast<index>(first)},
          count(static_cast<std::size_t>(static_cast<index>(last)) - static_cast<std::size_t>(range.first)) {
        if constexpr (std::is_unsigned_v<index>)
            if (first < First{0} || last < Last{0}) [[unlikely]]
                negative_as_unsigned(call);
        if (static_cast<index>(last) < range.first) [[unlikely]]
            reversed_range(call);
    }
};

template <std::random_access_iterator I> struct counted_range<I, I> {
    iterator_range<I> range;
    std::size_t count;

    counted_range(const char *call, I first, I last) : range{first}, count(0) {
        const auto distance = last - first;
        if (distance < 0) [[unlikely]]
            reversed_range(call);
        count = static_cast<std::size_t>(distance);
    }
};

template <class First, class Last>
concept loop_range = (loop_index<First> && loop_index<Last>) ||
                     (std::random_access_iterator<First> && std::same_as<First, Last>);

// The argument types of a body.
template <class First, class Last>
using loop_position = typename decltype(counted_range<First, Last>::range)::position;
template <class First, class Last>
using loop_element = decltype(decltype(counted_range<First, Last>::range)::element(
    std::declval<const loop_position<First, Last> &>()));

// A small callable is copied before a tight loop: the compiler then knows that nothing else changes its
// members, can keep them in registers, and can vectorize the loop.
template <class F>
inline constexpr bool copied_for_a_step = std::is_trivially_copyable_v<F> &&std::is_copy_constructible_v<F> &&
                                          sizeof(F) <= 128;
template <class F>
using for_a_step = std::conditional_t<copied_for_a_step<std::remove_cv_t<F>>, std::remove_cv_t<F>, F &>;

} // namespace fult::detail
