// Handles of tasks in C. A handle is a plain value, which a program may use after it has joined or detached
// the task: then its slot is free, or another task has it. So a handle holds, besides the address of the
// descriptor, how many of the slot's tasks C had joined or detached when it was made.
#pragma once

#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/fult.h>

namespace fult::detail {

inline constexpr unsigned handle_address_bits = 48;
static_assert(sizeof(fult_task_t) * 8 == handle_address_bits + 16, "the count has 16 bits");

// Called by the owner of the task, before C has it.
inline fult_task_t handle_of(const task *t) noexcept {
    const std::uintptr_t count = t->c_handles_taken.load(std::memory_order_relaxed);
    FULT_ASSERT(address_of(t) >> handle_address_bits == 0);
    return at_address<fult_task>(address_of(t) | count << handle_address_bits);
}

// The task of a handle that was neither joined nor detached. Ends the program otherwise.
inline task *task_of(fult_task_t handle, const char *call = __builtin_FUNCTION()) noexcept {
    constexpr std::uintptr_t address = (std::uintptr_t{1} << handle_address_bits) - 1;
    auto *const t = at_address<task>(address_of(handle) & address);
    if (t && t->c_handles_taken.load(std::memory_order_relaxed) != address_of(handle) >> handle_address_bits)
        misuse(call, "the task was joined or detached already");
    return t;
}

// The same for a call that joins or detaches the task: the handle has none afterwards.
inline task *take_task_of(fult_task_t handle, const char *call = __builtin_FUNCTION()) noexcept {
    task *const t = task_of(handle, call);
    auto &taken = t->c_handles_taken;
    taken.store(static_cast<std::uint16_t>(taken.load(std::memory_order_relaxed) + 1),
                std::memory_order_relaxed);
    return t;
}

} // namespace fult::detail
