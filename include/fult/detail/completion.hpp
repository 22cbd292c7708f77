// A number of ends that are outstanding, and the one task or thread that waits for them
// (tests/model/completion.pml, tests/model/group.pml).
//
// Joins by threads, wait_all, wait_any, task groups and the waits for requests of comm/ use one. It is on the
// waiter's stack, or in the group.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/layout.hpp>
#include <fult/detail/wait_record.hpp>

namespace fult::detail {

class FULT_API completion {
  public:
    explicit constexpr completion(std::int64_t outstanding = 0) noexcept : word_(one * outstanding) {}
    completion(const completion &) = delete;
    completion &operator=(const completion &) = delete;

    // Before that end can come. From any thread.
    void add_one() noexcept { word_.fetch_add(one, std::memory_order_relaxed); }

    // One has ended; what was written before is visible after the wait. From any thread. If it is the last
    // and one waits, the completion may be destroyed at once.
    void end_one() noexcept;

    // True if nothing is outstanding, and what the ended ones have written is visible. False during a wait.
    bool is_over() const noexcept { return word_.load(std::memory_order_acquire) == 0; } // pairs with end_one

    // True if a wait would return at once, and what the ended ones have written is visible. False during a
    // wait.
    bool is_ready() const noexcept {
        return word_.load(std::memory_order_acquire) <= 0;
    } // pairs with end_one

    // Adds `more`, which may be negative, and waits until no more than none is outstanding. One call at a
    // time: a second one ends the program. A task suspends, a foreign thread blocks. `what` is shown in
    // reports, and must live as long.
    void wait(const waiting_for &what, std::int64_t more = 0) noexcept;

  private:
    static constexpr std::int64_t one = 2, waiting = 1;

    std::int64_t begin_wait(const waiting_for &what, std::int64_t more, join_word me) noexcept;
    bool is_waiting() const noexcept { // pairs with end_one
        return (word_.load(std::memory_order_acquire) & waiting) != 0;
    }
    void wait_on_thread(const waiting_for &what, std::int64_t more) noexcept;

    std::atomic<std::int64_t>
        word_; // twice what is outstanding, which may be negative, plus the bit `waiting`
    std::atomic<join_word> waiter_{}; // a task, or a parker; set before the bit
};
static_assert(alignof(completion) >= 8, "a join word has room for a tag");

} // namespace fult::detail
