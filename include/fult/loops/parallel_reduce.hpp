/// @file
/// Loops that combine what their iterations yield into one value.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/detail/mistake.hpp>
#include <fult/loops/range.hpp>
#include <fult/loops/run_loop.hpp>

namespace fult {
/// @cond internal
namespace detail {

// True if a number of the one type, converted to the other, loses its fraction or its upper digits. What T
// itself becomes in an expression (a short: an int) may come back.
template <class From, class T>
inline constexpr bool narrows = std::is_arithmetic_v<From> &&std::is_arithmetic_v<T> &&
                                (std::is_floating_point_v<From> == std::is_floating_point_v<T>
                                     ? sizeof(From) > sizeof(T)
                                     : std::is_floating_point_v<From>);
template <class From, class T> inline constexpr bool keeps_value = !narrows<From, T>;
template <class From, class T>
requires std::is_integral_v<T>
inline constexpr bool keeps_value<From, T> = !narrows<From, T> || std::is_same_v<From, decltype(+T{})>;

// A piece of the range, folded into a value.
template <class Range, class T, class Map, class Combine> struct fold {
    Range range;
    const T &identity;
    Map &map;
    Combine &combine;

    using result = std::optional<T>;

    result start() const { return result(std::in_place, identity); }

    void step(result &into, std::size_t begin, std::size_t end) const {
        for_a_step<Map> each = map;
        for_a_step<Combine> both = combine;
        T value = std::move(*into);
        const auto behind = range.at(end);
        for (auto i = range.at(begin); i != behind; ++i)
            value = std::invoke(both, std::move(value), std::invoke(each, range.element(i)));
        *into = std::move(value);
    }

    void merge(result &into, result &&above) const {
        if (into && above)
            *into = std::invoke(combine, std::move(*into), std::move(*above));
    }
};

// A tree of combinations whose shape depends only on the number of blocks. A node spawns its right half if a
// worker has requested work, or always if `eager`.
template <class Fold> class fold_tree {
  public:
    using result = typename Fold::result;

    fold_tree(Fold &job, loop_errors &errors, std::size_t count, std::size_t block, bool eager) noexcept
        : job_(job), errors_(errors), count_(count), block_(block), eager_(eager) {}

    result run() noexcept { return node(0, count_ / block_ + (count_ % block_ != 0)); }

  private:
    struct half {
        fold_tree *tree;
        std::size_t begin, end;
        result operator()() const { return tree->node(begin, end); }
    };

    result node(std::size_t begin, std::size_t end) noexcept {
        result mine{};
        if (errors_.stopped())
            return mine;
        FULT_TRY {
            if (end - begin == 1) {
                const std::size_t at = begin * block_;
                mine = job_.start();
                job_.step(mine, at, at + (std::min)(block_, count_ - at));
                count_step();
                return mine;
            }
            const std::size_t middle = begin + (end - begin + 1) / 2;
            const half right{this, middle, end};
            decltype(spawn(right)) given;
            if (eager_ || (work_is_requested() && work_still_requested())) {
                FULT_TRY { given = spawn(right); }
                FULT_CATCH_ALL { // no slot: run it here
                }
            }
            mine = node(begin, middle);
            job_.merge(mine, given.valid() ? given.join() : right());
        }
        FULT_CATCH_ALL { errors_.fail(); }
        return mine;
    }

    Fold &job_;
    loop_errors &errors_;
    const std::size_t count_, block_;
    const bool eager_;
};

// The block length if the grouping must not depend on the workers.
inline std::size_t block_of(std::size_t count, std::size_t grain) noexcept {
    constexpr std::size_t blocks = 256;
    return grain != 0 ? grain : count / blocks + (count % blocks != 0);
}

} // namespace detail
/// @endcond

/// Computes combine(... combine(combine(identity, map(first)), map(first + 1)) ..., map(last - 1)), in
/// groups, on several workers at a time. map(i) is called for indices, map(*i) for random-access iterators;
/// its result and that of combine(T, ...) must convert to T. Groups begin with a copy of the identity and are
/// combined in the order of the range, so combine must be associative but need not be commutative. T is the
/// type of the identity; results that it would narrow are refused (0 for numbers with fractions).
///
/// If combine is associative up to rounding, `ordered` makes the result the same for any number of workers
/// and in each run: blocks of `grain` iterations (0: a 256th of the range) are combined in a tree that
/// depends only on them. The range is divided lazily then, whatever the schedule. Otherwise schedule::fixed
/// uses one block per worker, and schedule::guided is the same as lazy.
///
/// Errors, threads and suspension: as parallel_for. An empty range returns the identity.
template <class First, class Last, class T, class Map, class Combine>
requires detail::loop_range<First, Last> && std::copy_constructible<T> &&
    std::invocable<Map &, detail::loop_element<First, Last>> && std::is_invocable_r_v<T, Combine &, T, T>
[[nodiscard]] T parallel_reduce(First first, Last last, T identity, Map &&map, Combine &&combine,
                                const loop_options &options = {}) {
    using mapped = std::remove_cvref_t<std::invoke_result_t<Map &, detail::loop_element<First, Last>>>;
    static_assert(
        detail::keeps_value<mapped, T> &&
            detail::keeps_value<std::remove_cvref_t<std::invoke_result_t<Combine &, T, mapped>>, T>,
        "fult::parallel_reduce: the result has the type of the identity, which is narrower than what "
        "is reduced: pass an identity of the wider type, such as 0.0 instead of 0");
    const std::size_t grain = detail::checked_grain("parallel_reduce", options);
    const detail::counted_range<First, Last> all("parallel_reduce", first, last);
    if (all.count == 0)
        return identity;
    using job_type = detail::fold<std::remove_cv_t<decltype(all.range)>, T, std::remove_reference_t<Map>,
                                  std::remove_reference_t<Combine>>;
    job_type job{all.range, identity, map, combine};
    return detail::run_as_task([&]() -> T {
        detail::loop_errors errors;
        typename job_type::result found;
        if (options.ordered) {
            const std::size_t block = detail::block_of(all.count, grain);
            found = detail::fold_tree(job, errors, all.count, block, false).run();
        } else if (options.schedule == schedule::fixed) {
            const auto workers = static_cast<std::size_t>(worker_count());
            const std::size_t block = grain != 0 ? grain : (all.count - 1) / workers + 1;
            found = detail::fold_tree(job, errors, all.count, block, true).run();
        } else {
            found = detail::lazy_loop<job_type>(job, errors, grain).run(0, all.count);
        }
        errors.rethrow();
        return std::move(*found);
    });
}

} // namespace fult
