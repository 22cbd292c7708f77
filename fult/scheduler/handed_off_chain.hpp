// Claimed tasks that wait for their worker's next decision.
//
// A signal sets a bit at the task's home. A hand-off passes the task itself, so that it runs on the granting
// worker, where the data that the caller wrote is in the cache. To searching workers the chain acts like one
// more public word: it is pushed by an atomic operation before the sleepers are checked, and it is checked by
// a worker before it parks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

#include "ready_set.hpp"
#include "work_source.hpp"

namespace fult::detail {

class worker;

// The tasks are chained by `next`. Only their worker pushes and pops, so that the pop has no ABA problem;
// other workers take the whole chain. Alternatively a single deferred lock. Each task of the chain is busy,
// has a context, and has no bit that makes another worker run it: its granter has claimed it.
//
// `here` is the worker that the chain belongs to.
class alignas(cache_line) handed_off_chain : public own_source {
  public:
    void push(worker &here, task *first, task *last) noexcept; // claimed tasks, chained by `next`

    // Deferred release of a lock that a task of this worker has released while others queue. This worker's
    // next decision, or a thief, transfers the lock, unless a task of this worker reacquires it before.
    // defer_release returns false if tasks have been handed off already.
    // returns the next owner, claimed, or nullptr
    using transfer_function = task *(*)(void *lock, worker &here) noexcept;
    bool defer_release(worker &here, void *lock, transfer_function transfer) noexcept;
    bool reacquire(const void *lock) noexcept {
        task *mine = head_.load(std::memory_order_relaxed);
        return mine == deferred_lock(lock) &&
               head_.compare_exchange_strong(mine, nullptr,
                                             std::memory_order_acq_rel); // pairs with steal_stalled
    }

    // Number of hand-offs, to detect changes. From any thread.
    std::uint32_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

    // As a source of work ---------------------------------------------------------------------------------------------------

    static constexpr bool is_at_once = true;
    static constexpr bool reads_own_lines = true;
    static constexpr bool runs_soon = true;
    bool may_have_any(const worker &) const noexcept {
        return head_.load(std::memory_order_relaxed) != nullptr;
    }
    bool may_have_stealable(const worker &) const noexcept {
        return head_.load(std::memory_order_seq_cst) != nullptr; // pairs with push
    }

    // Takes the newest task. If it is still the first, nothing was taken: only this worker pushes.
    task *take_at_once(worker &here) noexcept {
        task *first = head_.load(std::memory_order_acquire), *below = nullptr;
        while (first &&
               !head_.compare_exchange_weak(
                   first,
                   below = is_deferred_lock(first) ? nullptr : first->next.load(std::memory_order_relaxed),
                   std::memory_order_acq_rel)) // pairs with steal_stalled
            ;
        if (is_deferred_lock(first))
            return transfer(here, first);
        if (first && below)
            ready_set::prefetch(below);
        FULT_ASSERT(!first || is_handed_off(*first));
        return first;
    }
    task *take_fair(worker &here) noexcept;
    task *steal_stalled(worker &here) noexcept;

    // The chain may change meanwhile, and may be a deferred lock.
    template <class Find, class Visit> void visit(const Find &find, const Visit &visit) const {
        constexpr std::size_t most = 4096;
        const task *t = find(address_of(head_.load(std::memory_order_acquire)));
        for (std::size_t i = 0; t && i < most; ++i) {
            visit(t);
            t = find(address_of(t->next.load(std::memory_order_relaxed)));
        }
    }
    void drop_in_forked_child() noexcept { head_.store(nullptr, std::memory_order_relaxed); }

  private:
    static bool is_deferred_lock(const task *t) noexcept { return (address_of(t) & 1) != 0; }
    static task *deferred_lock(const void *lock) noexcept { // the encoding of a lock in head_
        FULT_ASSERT((address_of(lock) & 1) == 0);
        return at_address<task>(address_of(lock) | 1);
    }
    static void *lock_of(const task *t) noexcept { // the inverse
        FULT_ASSERT(is_deferred_lock(t));
        return at_address<void>(address_of(t) & ~std::uintptr_t{1});
    }
    // The state of a task in a chain, for assertions.
    static bool is_handed_off(const task &t) noexcept {
        return t.state.load(std::memory_order_relaxed) == busy && t.context && !t.pinned;
    }
    // Of a lock that was deferred in this chain, on the worker that has taken it.
    task *transfer(worker &here, const task *what) const noexcept {
        return transfer_.load(std::memory_order_relaxed)(lock_of(what), here);
    }
    void notify(const worker &here) noexcept;
    void adopt(worker &here, task *chain) noexcept;

    std::atomic<task *> head_{nullptr};
    std::atomic<std::uint32_t> count_{0}; // written by this worker only
    std::atomic<transfer_function> transfer_{nullptr};
    unsigned watched_victim_ = 0;     // the worker whose chain was inspected last,
    task *watched_first_ = nullptr;   // the first task of that chain,
    std::uint32_t watched_count_ = 0; // and its count
    std::uint32_t fair_turns_ = 0;
};

} // namespace fult::detail
