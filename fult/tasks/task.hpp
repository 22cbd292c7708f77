// Operations on descriptors: claims, and what spawn_options store there.
#pragma once

#include <string>
#include <string_view>

#include <fult/detail/address.hpp>
#include <fult/detail/layout.hpp>
#include <fult/task_id.hpp>

#include "public_words.hpp"
#include "task_state.hpp"

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

} // namespace fult::detail
