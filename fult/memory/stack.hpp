// A task's stack, and the record at its upper end.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

// Stored in the topmost bytes of the mapping that it describes, on a page that is resident anyway; for the
// stacks of kernel threads, in the worker.
struct alignas(cache_line) stack {
    std::byte *base = nullptr; // lowest address, that of the guard
    std::size_t size = 0;      // of the mapping, including guard and record
    std::size_t guard = 0;     // bytes at base that fault; 0: the kernel has refused them
    std::uintptr_t limit = 0;  // below this, no task is started inline: the rest is reserved for each task
    void *idle = nullptr;      // the context that starts a task, while none runs here
    stack *next = nullptr;     // in a pool
    void *fiber = nullptr;     // TSan's
    unsigned valgrind_id = 0;
    bool kernel_threads = false;         // a kernel thread's own stack, guarded by the system
    const worker_hot *tied_to = nullptr; // all tasks on it stay on this worker (tied.hpp)
    bool is_leak_root = false;           // LeakSanitizer knows it (stack_pool.cpp)
    bool split = false;                  // the guard splits the mapping: mprotect's
    bool pinned = false; // the task it was started for is pinned, and no inline task above it leads home yet

    std::byte *low() const noexcept { return base + guard; }
    std::byte *high() const noexcept { return base + size; }
    std::size_t usable() const noexcept { return size - guard; } // with the record
    bool guards(std::uintptr_t address) const noexcept {
        const auto b = address_of(base);
        return address >= b && address < b + guard;
    }
};

// The limit if no task may run inline: above all stacks, and far below the largest address, as runs are added
// to a limit (worker::end_row).
inline constexpr std::uintptr_t never_inline = ~std::uintptr_t{0} / 2 + 1;

// A quarter of a stack is reserved for each task, however many inline joins lie below it.
inline std::uintptr_t inline_limit(std::uintptr_t low, std::uintptr_t high) noexcept {
    FULT_ASSERT(low < high);
    return low + (high - low) / 4;
}

} // namespace fult::detail
