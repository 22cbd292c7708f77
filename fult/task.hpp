// What happens to a descriptor: claims, forwarding of pinned tasks, and what spawn_options leave there.
#pragma once

#include <string>
#include <string_view>

#include <fult/detail/layout.hpp>
#include <fult/task_id.hpp>

#include "public_words.hpp"

namespace fult::detail {

struct task_extras : local_values {
    std::string name;
    std::size_t stack_size = 0; // 0: ordinary

    task_extras() noexcept = default;
    task_extras(std::string_view name, std::size_t stack_size) : name(name), stack_size(stack_size) {}
    ~task_extras() { delete[] far; } // the values have ended before
    task_extras(const task_extras &) = delete;
    task_extras &operator=(const task_extras &) = delete;
};

inline task_id to_id(const task *t) noexcept {
    return task_id::from_value(reinterpret_cast<std::uintptr_t>(t) | (t->pinned ? 1u : 0u));
}
inline task *to_task(task_id id) noexcept {
    return reinterpret_cast<task *>(id.value() & ~std::uintptr_t{1});
}

enum class claim_outcome {
    ours,    // the caller runs it
    not_now, // it runs, or somebody else claimed it; the signal is retained
    pinned,  // it must be run by its home: the caller posts the bit among the home's pinned words
};

// Decides who runs a task whose runnable bit the caller took (scheduler.md, "States, claims, signals";
// tests/model/park.pml).
inline claim_outcome claim(task &t, bool at_home) noexcept {
    for (;;) {
        std::uint32_t seen = ready;
        if (t.state.compare_exchange_strong(seen, busy,
                                            std::memory_order_seq_cst)) // pairs with park and publish
            return claim_outcome::ours;
        if (seen == ready_pinned) {
            if (!at_home)
                return claim_outcome::pinned;
            if (t.state.compare_exchange_strong(seen, busy, std::memory_order_seq_cst)) // pairs with park
                return claim_outcome::ours;
        }
        t.token.store(
            1,
            std::memory_order_seq_cst); // busy: retain the signal; pairs with the exchange in wait and park
        if (t.state.load(std::memory_order_seq_cst) == busy) // pairs with the exchange in park
            return claim_outcome::not_now;
        if (t.token.exchange(0, std::memory_order_seq_cst) ==
            0) // whoever parked it took the token and posts the bit
            return claim_outcome::not_now;
    }
}

} // namespace fult::detail
