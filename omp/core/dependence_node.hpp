// A task as its dependences see it: how many predecessors it waits for, and which successors wait for it. It
// outlives the task while the table of its parent (dependence_table.hpp) refers to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/spin_lock.hpp>

#include "omp_task.hpp"

namespace fult::omp {

struct dependence_node {
    omp_task *of = nullptr;        // null: a wait for dependences
    child_counter *wait = nullptr; // of a wait: this counter ends instead of a task that starts
    std::atomic<int> waits_for{1};
    std::atomic<int> references{1};
    std::atomic<bool> done{false}; // changes under the lock
    detail::spin_lock lock;
    std::uint32_t successors = 0; // under the lock, and so are these:
    static constexpr std::uint32_t few = 6;
    dependence_node *first[few];
    std::vector<dependence_node *> others;
    attachments more; // those of the task, if it had none before

    dependence_node() noexcept {} // NOLINT: `first` is filled as successors come
    // The task has ended, and all that waited for it know: no thread uses it any more.
    bool has_ended() const noexcept {
        return is_done() && successors == 0 && waits_for.load(std::memory_order_relaxed) == 0;
    }
    bool is_done() const noexcept { return done.load(std::memory_order_acquire); } // pairs with end
    // This one waits for `before`, unless that has ended.
    void follow(dependence_node &before) {
        if (&before != this && !before.is_done()) [[unlikely]]
            follow_living(before);
    }
    // All successors have one predecessor less.
    void end() noexcept;
    void predecessor_ended() noexcept;
    // One of those that it waits for is over, the end of its own generation included. True: it was the last.
    bool count_one() noexcept {
        const int before = waits_for.fetch_sub(1, std::memory_order_acq_rel);
        FULT_ASSERT(before > 0, "each predecessor ends once");
        return before == 1;
    }

  private:
    void follow_living(dependence_node &before);
};

inline dependence_node *make_node(thread_state *at) { return ::new (at->blocks.take(0)) dependence_node; }

// Gives one reference back, on the thread of `at`.
FULT_ALWAYS_INLINE void drop_node(dependence_node *n, thread_state *at) noexcept {
    FULT_ASSERT(is_here(at));
    FULT_ASSERT(n->references.load(std::memory_order_relaxed) > 0, "one of them is the caller's");
    if (n->references.load(std::memory_order_acquire) != 1 &&
        n->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
        return;
    FULT_ASSERT(n->has_ended(), "a task has a reference to its node until it ends");
    n->~dependence_node();
    at->blocks.give(0, n);
}

} // namespace fult::omp
