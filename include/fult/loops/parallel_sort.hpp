/// @file
/// Sorting in place.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

#include <fult/detail/exceptions.hpp>
#include <fult/loops/parts.hpp>
#include <fult/loops/range.hpp>
#include <fult/loops/run_loop.hpp>

namespace fult {
/// @cond internal
namespace detail {

// Quicksort with an explicit list of pending ranges. When a worker requests work, the oldest range, which is
// the largest, becomes a task. Bad pivots are counted, and a range that had too many is heap sorted.
template <class Iterator, class Compare> class quick_sort {
  public:
    using distance = std::iter_difference_t<Iterator>;

    quick_sort(Compare &compare, loop_errors &errors) noexcept : compare_(compare), errors_(errors) {}

    void run(Iterator first, Iterator last, unsigned bad_pivots_left) noexcept {
        split_off<task_of_range> given;
        pending_ranges pending;
        FULT_TRY {
            pending.push({first, last, bad_pivots_left});
            while (!pending.empty() && !errors_.stopped()) {
                if (pending.several() && work_is_requested() && !given.full() && work_still_requested() &&
                    given.add({this, pending.oldest()}))
                    pending.drop_oldest();
                step(pending);
                count_step();
            }
        }
        FULT_CATCH_ALL { errors_.fail(); }
        given.join([](auto &sorted) { sorted.join(); });
    }

  private:
    struct range {
        Iterator first, last;
        unsigned bad_pivots_left;
        distance size() const { return last - first; }
    };

    struct task_of_range {
        quick_sort *sort;
        range what;
        void operator()() const { sort->run(what.first, what.last, what.bad_pivots_left); }
    };

    // The larger half is pushed first and the smaller is sorted first, so each pending range is less than
    // half as long as the one before it.
    class pending_ranges {
      public:
        bool empty() const noexcept { return bottom_ == top_; }
        bool several() const noexcept { return top_ - bottom_ > 1; }
        void push(const range &r) { ranges_[top_++ % room] = r; }
        range pop() { return ranges_[--top_ % room]; }
        const range &oldest() const { return ranges_[bottom_ % room]; }
        void drop_oldest() noexcept { ++bottom_; }

      private:
        static constexpr unsigned room = 64;
        range ranges_[room];
        unsigned bottom_ = 0, top_ = 0;
    };

    static constexpr distance short_range = 1024; // below it std::sort is used, about 20 us

    bool less(Iterator a, Iterator b) { return std::invoke(compare_, *a, *b); }

    Iterator median(Iterator a, Iterator b, Iterator c) {
        if (less(a, b))
            return less(b, c) ? b : less(a, c) ? c : a;
        return less(a, c) ? a : less(b, c) ? c : b;
    }

    // Moves the median of three medians to the front.
    void choose_pivot(Iterator first, Iterator last) {
        const distance eighth = (last - first) / 8;
        const Iterator middle = first + (last - first) / 2;
        const Iterator pivot = median(median(first, first + eighth, first + 2 * eighth),
                                      median(middle - eighth, middle, middle + eighth),
                                      median(last - 1 - 2 * eighth, last - 1 - eighth, last - 1));
        std::iter_swap(first, pivot);
    }

    // Returns the final position of the pivot: no element before it is greater, none behind it is less. Equal
    // elements go to both sides, so that many of them do not cause a bad pivot.
    Iterator partition(Iterator first, Iterator last) {
        Iterator low = first, high = last;
        for (;;) {
            do
                ++low;
            while (low != last && less(low, first));
            do
                --high;
            while (high != first && less(first, high));
            if (high <= low)
                break;
            std::iter_swap(low, high);
        }
        std::iter_swap(first, high);
        return high;
    }

    void step(pending_ranges &pending) {
        range r = pending.pop();
        if (r.size() <= short_range) {
            std::sort(r.first, r.last, std::ref(compare_));
            return;
        }
        if (r.bad_pivots_left == 0) {
            std::make_heap(r.first, r.last, std::ref(compare_));
            std::sort_heap(r.first, r.last, std::ref(compare_));
            return;
        }
        choose_pivot(r.first, r.last);
        const Iterator pivot = partition(r.first, r.last);
        range below{r.first, pivot, r.bad_pivots_left}, above{pivot + 1, r.last, r.bad_pivots_left};
        if (below.size() < above.size())
            std::swap(below, above);
        if (above.size() < r.size() / 8) { // now the smaller one
            --below.bad_pivots_left;
            --above.bad_pivots_left;
        }
        pending.push(below);
        pending.push(above);
    }

    Compare &compare_;
    loop_errors &errors_;
};

} // namespace detail
/// @endcond

/// Sorts [first, last) in place; compare(a, b) returns true if a comes before b, a strict weak ordering. Not
/// stable. O(n log n) comparisons in the worst case. Elements need to be movable only. A part becomes a task
/// when a worker requests work. If compare throws, the first exception is rethrown here after all parts have
/// ended, and the elements have unspecified values. On a task: may suspend. On a foreign thread: blocks.
/// Throws std::invalid_argument for a range that ends before it begins, and what spawn throws if no runtime
/// is running.
template <std::random_access_iterator Iterator, class Compare = std::ranges::less>
requires std::sortable<Iterator, Compare>
void parallel_sort(Iterator first, Iterator last, Compare compare = {}) {
    const detail::counted_range<Iterator, Iterator> all("parallel_sort", first, last);
    if (all.count < 2)
        return;
    detail::run_as_task([&] {
        detail::loop_errors errors;
        const auto bad_pivots = static_cast<unsigned>(std::bit_width(all.count));
        detail::quick_sort<Iterator, Compare>(compare, errors).run(first, last, bad_pivots);
        errors.rethrow();
    });
}

} // namespace fult
