// The slots of a home: the lower half is the worker's own, the upper one is for other threads, under a lock.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

#include "fult/base/spin_lock.hpp"
#include "fult/memory/home_memory.hpp"
#include "fult/memory/slot_allocator.hpp"
#include "ready_set.hpp"

namespace fult::detail {

class home_slots {
  public:
    explicit home_slots(ready_set &tasks) noexcept : tasks_(tasks) {}
    // The run of the own slots is hidden if every spawn must take the slow path: the fast path then finds no
    // slot. The memory grows with the slots in use.
    void open(worker_hot *home, bool hides_run, std::size_t max_tasks, home_memory &memory) noexcept;

    // The worker's own ----------------------------------------------------------------------------------------------------------
    task *take_own() noexcept;                  // nullptr at the limit
    task *take_own_but_some() noexcept;         // nullptr also if few are left
    task *take_own_of_first_quarter() noexcept; // nullptr also if a quarter of the words has no free one
    bool has_free_own() noexcept { return own_.has_free(1); }
    bool has_spare_own() noexcept { return own_.has_spare(); } // take_own_but_some finds one
    // Releases any slot except the one just before the run of slots, which release_slot handles. If the run
    // is hidden, any slot.
    FULT_ALWAYS_INLINE void release_own(task *t) noexcept {
        FULT_ASSERT(slot_of(t) < half_slots);
        if (own_.release_elsewhere(slot_of(t))) [[unlikely]]
            follow(t);
    }
    bool is_far_ahead() const noexcept { return own_.is_far_ahead(); }
    // Of task trees that take turns, as slot_allocator's.
    void begin_apart() noexcept {
        own_.begin_apart();
        tasks_.set_current_word(own_.current_word());
    }
    void resume(const task *next, bool row_ended) noexcept {
        own_.resume(next, row_ended);
        tasks_.set_current_word(own_.current_word());
    }
    const task *next() const noexcept { return own_.next(); }
    void trim_own() noexcept;

    // Any thread ------------------------------------------------------------------------------------------------------------------
    task *take_shared() noexcept;
    void trim_shared() noexcept;
    // As slot_allocator's, of one half. The own half is the worker's to ask for.
    std::size_t slots_if_short(bool shared) noexcept;
    std::uint64_t count_living() noexcept; // number of taken slots; exact while no task is spawned
    std::uint64_t count_ended() noexcept;  // of these, slots of tasks that have ended and were not joined

  private:
    void follow(const task *t) noexcept;
    task *begin_taken(task *t) noexcept;

    ready_set &tasks_; // of the same home
    slot_allocator own_;
    slot_run hidden_run_;
    spin_lock lock_; // of the shared slots
    slot_run shared_run_;
    slot_allocator shared_;
};

} // namespace fult::detail
