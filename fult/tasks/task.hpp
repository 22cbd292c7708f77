// Operations on descriptors: the transitions of the state, claims, the end, and what spawn_options store
// there.
#pragma once

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>
#include <string_view>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>
#include <fult/task_id.hpp>

#include "public_words.hpp"

namespace fult::detail {

struct task_extras : local_values {
    std::string name;
    std::size_t stack_size = 0; // 0: ordinary

    task_extras() noexcept = default;
    task_extras(std::string_view name, std::size_t stack_size) : name(name), stack_size(stack_size) {}
    ~task_extras() { delete[] far; } // the values have been destroyed before
    task_extras(const task_extras &) = delete;
    task_extras &operator=(const task_extras &) = delete;
};

inline task_id to_id(const task *t) noexcept { return make_id(t, t->pinned); }
inline task *to_task(task_id id) noexcept { return task_of(id); }

// The state --------------------------------------------------------------------------------------------------------------------

// The transitions of task::state. Nothing else writes it, so each is checked here against the table.
//
// A busy task belongs to one thread: its worker, the context that switches away from it, or the thief that
// revoked its private bit. So the state of a busy task cannot change meanwhile, and a plain check of it is
// sound. A claimable task belongs to no thread; the one whose compare-and-swap succeeds gets it
// (tests/model/park.pml, tests/model/revoke.pml).

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

// Claims -----------------------------------------------------------------------------------------------------------------------

enum class claim_result {
    ours,    // the caller runs it
    not_now, // it is running, or another thread claimed it; the signal is retained
    pinned,  // only its home may run it: the caller posts the bit to the home's pinned words
};

// Decides which worker runs a task whose ready bit the caller took (scheduler.md, "States and signals";
// tests/model/park.pml).
inline claim_result claim(task &t, bool at_home) noexcept {
    for (;;) {
        const task_state seen = try_claim(t, ready);
        if (seen == ready) [[likely]]
            return claim_result::ours;
        if (seen == ready_pinned) {
            if (!at_home)
                return claim_result::pinned;
            if (try_claim(t, ready_pinned) == ready_pinned)
                return claim_result::ours;
        }
        // busy: retain the signal; pairs with the exchange in wait and mark_suspended
        t.pending_wakeup.store(1, std::memory_order_seq_cst);
        if (t.state.load(std::memory_order_seq_cst) == busy) // pairs with the exchange in mark_suspended
            return claim_result::not_now;
        // the suspending side took the wake-up and posts the bit
        if (t.pending_wakeup.exchange(0, std::memory_order_seq_cst) == 0)
            return claim_result::not_now;
    }
}

// The end: fult/kernel/joins.cpp, fult/kernel/locals.cpp -----------------------------------------------------------------------

// Notifies the joiner, if there is one already; frees the slot of a detached task. The result is in the
// descriptor.
void complete(task *t) noexcept;

// Calls the keys' destructors until no value is left, at most four rounds, as they may set values again; what
// is left then is dropped. Must be called by the task that owns the values. May suspend.
void end_locals(local_values &values) noexcept;

} // namespace fult::detail
