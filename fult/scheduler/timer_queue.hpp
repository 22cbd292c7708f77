// An ordered set of deadlines of any size. Allocates no memory, so that inserting cannot fail. Not
// thread-safe.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

#include <fult/detail/platform.hpp>

namespace fult::detail {

class timer_queue;

// One deadline; lives on the waiter's stack.
struct timer_entry {
    enum state : std::uint8_t {
        idle,   // in no queue
        armed,  // in one
        firing, // removed; fire() runs or is about to run
    };
    std::int64_t deadline = 0;                      // nanoseconds of the steady clock
    void (*fire)(timer_entry &) noexcept = nullptr; // must not suspend; the entry exists until it returns
    std::uint32_t shard = 0;                        // index of the queue, for the owner of the queues
    std::atomic<std::uint8_t> current_state{idle};

  private:
    friend class timer_queue;
    std::uint16_t bucket_index_ = 0; // the bucket's index, or is_due
    timer_entry *next_ = nullptr;    // next in the bucket
    timer_entry **back_ = nullptr;   // the pointer to this entry
    // prefetch hints: the fourth and the eighth entry behind
    timer_entry *fourth_ = nullptr, *eighth_ = nullptr;
};

// A radix heap. A deadline's bucket is given by its highest 6-bit digit that differs from the present time,
// and by the value of that digit. A word per level has a bit for each of its 64 buckets in use. As time
// passes, the first bucket is spread over the lower levels, so that each deadline moves down a few times at
// most; a cancelled deadline is unlinked from its list. Sources: G. Varghese, T. Lauck, "Hashed and
// hierarchical timing wheels", SOSP 1987; R. K. Ahuja and others, "Faster algorithms for the shortest path
// problem", JACM 37 (1990).
class timer_queue {
  public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    timer_queue() = default;
    timer_queue(const timer_queue &) = delete;
    timer_queue &operator=(const timer_queue &) = delete;

    // Requires that `when` is set and the entry is in no queue.
    void insert(timer_entry &e) noexcept;
    // Requires that the entry is in this queue.
    void remove(timer_entry &e) noexcept;

    // Removes and returns an entry that is due, or nullptr. `now` must not decrease. Earliest first, except
    // that entries that are overdue come in any order.
    timer_entry *pop(std::int64_t now) noexcept;

    // Advances the present time, so that later inserts take fewer steps. Worthwhile before inserting a
    // distant deadline.
    void advance(std::int64_t now) noexcept;
    bool is_far(std::int64_t when) const noexcept { return (time_of(when) ^ present_) >> 36 != 0; }

    // A lower bound of all deadlines; `never` if the queue is empty. Exact unless the earliest was removed.
    std::int64_t earliest() const noexcept;

  private:
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned levels = (63 + digit_bits - 1) / digit_bits;
    static constexpr std::uint16_t is_due = 0xffff;

    struct bucket {
        timer_entry *first = nullptr;
        std::int64_t earliest = never; // or a lower bound
    };

    static std::uint64_t time_of(std::int64_t when) noexcept {
        return when <= 0 ? 0 : static_cast<std::uint64_t>(when);
    }
    static bool push(bucket &into, timer_entry &e) noexcept;
    static void set_prefetch_hint(timer_entry &e) noexcept;
    void spread(unsigned index) noexcept;
    void mark_unused(unsigned index) noexcept;
    unsigned first_used() const noexcept; // if a level is used
    std::uint64_t begin_of(unsigned index) const noexcept;
    // Holds between calls, under the owner's lock. A level is used if and only if one of its buckets is, and
    // a bucket if and only if it has an entry. The deadlines of due_ are not after the present, all others
    // are.
    bool is_consistent() const noexcept;
    bool is_consistent(unsigned index) const noexcept;

    std::uint64_t present_ = 0;       // in nanoseconds
    std::uint32_t used_levels_ = 0;   // bit: the level has a bucket in use
    std::uint64_t used_[levels] = {}; // bit: the bucket is in use
    bucket due_;
    bucket buckets_[levels << digit_bits];
};

} // namespace fult::detail
