// The transitions of task::state. Nothing else writes it, so each is checked here against the table.
//
// A busy task belongs to one thread: its worker, the context that switches away from it, or the thief that
// revoked its private bit. So the state of a busy task cannot change meanwhile, and a plain check of it is
// sound. A claimable task belongs to no thread; the one whose compare-and-swap succeeds gets it
// (tests/model/park.pml, tests/model/revoke.pml).
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>

#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

struct state_transition {
    task_state from, to;
    friend constexpr bool operator==(const state_transition &, const state_transition &) noexcept = default;
};

//                                        function        by
inline constexpr state_transition legal_transitions[] = {
    {ready, busy},        // try_claim       the worker that took the bit; the inspector
    {ready_pinned, busy}, // try_claim       the home; the inspector
    {busy, ready},        // set_suspended   the context after the switch: registers are saved
    {busy, ready_pinned}, // set_suspended   likewise, of a pinned task
                          // set_claimable   both: publish, revoke, put back; before the bit is set
};

constexpr bool is_legal(task_state from, task_state to) noexcept {
    return std::find(std::begin(legal_transitions), std::end(legal_transitions),
                     state_transition{from, to}) != std::end(legal_transitions);
}
static_assert(!is_legal(busy, busy), "a task is claimed once");
static_assert(!is_legal(ready, ready_pinned) && !is_legal(ready_pinned, ready), "a pin does not change");

// Claims a task in the state `from`. Returns the state found, which is `from` if the task was claimed.
FULT_ALWAYS_INLINE task_state try_claim(task &t, task_state from) noexcept {
    FULT_ASSERT(is_legal(from, busy), "only a claimable task is claimed");
    // pairs with set_suspended and set_claimable
    t.state.compare_exchange_strong(from, busy, std::memory_order_seq_cst);
    return from;
}

// After the switch away from a task. The caller then checks pending_wakeup, or sets the task's bit.
FULT_ALWAYS_INLINE void set_suspended(task &t, task_state as) noexcept {
    [[maybe_unused]] const task_state before =
        t.state.exchange(as, std::memory_order_seq_cst); // pairs with try_claim and with the loads in claim
    FULT_ASSERT(is_legal(before, as), "a task that leaves its worker was busy");
}

// Of a task that this thread owns, before it sets the task's bit.
FULT_ALWAYS_INLINE void set_claimable(task &t, task_state as) noexcept {
    FULT_ASSERT(is_legal(t.state.load(std::memory_order_relaxed), as),
                "a task that becomes claimable was busy");
    t.state.store(as, std::memory_order_release); // pairs with try_claim
}

} // namespace fult::detail
