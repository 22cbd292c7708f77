// A task's stack, and the record at its upper end.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult::detail {

// Lies in the topmost bytes of the mapping that it describes, on the page that is resident anyway; those of
// kernel threads' own stacks lie in the worker.
struct alignas(cache_line) stack {
    std::byte *base = nullptr; // lowest address, the guard's
    std::size_t size = 0;      // of the mapping, guard and record included
    std::size_t guard = 0;     // bytes at base that fault
    std::uintptr_t limit =
        0;                 // below it no task is started inline: what remains is what every task may count on
    void *idle = nullptr;  // the context that takes a new task, while none runs here
    stack *next = nullptr; // in a pool
    void *fiber = nullptr; // TSan's
    unsigned valgrind_id = 0;
    bool kernel_threads = false; // the thread's own, whose guard the system made
    bool pinned = false; // the task that it was started for is, and the one above that does not lead home yet

    std::byte *low() const noexcept { return base + guard; }
    std::byte *high() const noexcept { return base + size; }
    bool guards(std::uintptr_t address) const noexcept {
        const auto b = reinterpret_cast<std::uintptr_t>(base);
        return address >= b && address < b + guard;
    }
};

// The limit where no task may run below another.
inline constexpr std::uintptr_t never_inline = ~std::uintptr_t{0};

// A quarter of a stack is every task's own, however deep below others it runs.
inline std::uintptr_t inline_limit(std::uintptr_t low, std::uintptr_t high) noexcept {
    return low + (high - low) / 4;
}

} // namespace fult::detail
