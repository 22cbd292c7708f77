// Deadlines in order, any number of them: a wheel for those that are far, a heap for the next few
// microseconds. No memory of its own, so that setting one cannot fail. For one thread at a time.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>

#include <fult/detail/platform.hpp>

namespace fult::detail {

class timer_queue;

// One deadline; lies with whoever waits for it.
struct timer_entry {
    enum state : std::uint8_t {
        idle,   // in no queue
        armed,  // in one
        firing, // out of it; fire() runs, or is about to
    };
    std::int64_t when = 0;                          // nanoseconds of the steady clock
    void (*fire)(timer_entry &) noexcept = nullptr; // must not suspend; the entry is there until it returns
    std::uint32_t shard = 0;                        // for the queue's owner: which one it is
    std::atomic<std::uint8_t> what{idle};

  private:
    friend class timer_queue;
    std::uint16_t place_ = 0;         // the bucket, or the heap
    timer_entry *next_ = nullptr;     // in a bucket, or among siblings
    timer_entry **back_ = nullptr;    // in a bucket: what points here
    timer_entry *child_ = nullptr;    // in the heap; in a bucket: the fourth behind it, once
    timer_entry *previous_ = nullptr; // in the heap: sibling, or parent of the first child; in a bucket: the
                                      // eighth behind it, once
};

// A radix heap: a deadline's bucket is given by the highest of its 6-bit digits that differs from the present
// time's, and by that digit; a word tells which of a level's 64 buckets are in use. As time goes on the first
// bucket is spread over those below, so each deadline moves down a few times at most, and what is cancelled
// before leaves from the list that it is in. Within the last tick (4 microseconds) a pairing heap has them to
// the nanosecond. Sources: G. Varghese, T. Lauck, "Hashed and hierarchical timing wheels", SOSP 1987; R. K.
// Ahuja and others, "Faster algorithms for the shortest path problem", JACM 37 (1990); M. L. Fredman and
// others, "The pairing heap", Algorithmica 1 (1986).
class timer_queue {
  public:
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

    timer_queue() = default;
    timer_queue(const timer_queue &) = delete;
    timer_queue &operator=(const timer_queue &) = delete;

    // The entry's `when` is set, and it is in no queue.
    void insert(timer_entry &e) noexcept;
    // It is in this one.
    void remove(timer_entry &e) noexcept;

    // One whose time has come, out of the queue; or null. `now` does not run backwards. Earliest first, but
    // for those that were overdue together for long: these come in any order.
    timer_entry *pop(std::int64_t now) noexcept;

    // Tells what time it is, so that those that are set next need fewer steps. Worth it before a far one.
    void advance(std::int64_t now) noexcept;
    bool is_far(std::int64_t when) const noexcept { return (tick_of(when) ^ present_) >> 24 != 0; }

    // No deadline is before this; `never` for an empty queue. Exact, unless the earliest was removed.
    std::int64_t earliest() const noexcept;

  private:
    static constexpr unsigned tick_bits = 12; // of nanoseconds
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned levels = (63 - tick_bits + digit_bits - 1) / digit_bits;
    static constexpr std::uint16_t in_heap = 0xffff;

    struct bucket {
        timer_entry *first = nullptr;
        std::int64_t earliest = never; // or before
    };

    static std::uint64_t tick_of(std::int64_t when) noexcept {
        return when <= 0 ? 0 : static_cast<std::uint64_t>(when) >> tick_bits;
    }
    void spread(unsigned level, unsigned digit) noexcept;
    static void note_ahead(timer_entry &e) noexcept;
    void take_out(timer_entry &e) noexcept;
    std::uint64_t first_tick(unsigned level, unsigned digit) const noexcept;
    static timer_entry *meld(timer_entry *a, timer_entry *b) noexcept;
    static timer_entry *pair_up(timer_entry *list) noexcept;
    void remove_from_heap(timer_entry &e) noexcept;

    std::uint64_t present_ = 0;       // in ticks
    std::uint32_t used_levels_ = 0;   // bit: some bucket of that level is in use
    std::uint64_t used_[levels] = {}; // bit: that bucket is
    timer_entry *root_ = nullptr;     // of the heap: up to the end of the present tick
    bucket buckets_[levels << digit_bits];
};

} // namespace fult::detail
