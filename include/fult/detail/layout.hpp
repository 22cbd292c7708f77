// The memory of a home: where a worker's words and descriptors lie, so that everything is found by
// arithmetic.
//
// A home is a region of address space, aligned to its own size. Its lower half begins with the worker itself
// and holds the words, one bit a slot; its upper half holds the descriptors. From the address of a descriptor
// follow its home (mask), its slot (shift), its words (base + constant): signal(task) reads no pointer, and
// never touches the descriptor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fult/detail/platform.hpp>

namespace fult::detail {

struct task;
struct stack;

// How a task's callable is run and its stored result is dropped when nobody wants it.
struct task_ops {
    void (*run)(task &) noexcept;  // invoke the closure in storage, then leave the outcome there
    void (*drop)(task &) noexcept; // destroy the outcome in storage
};

enum class outcome : std::uint8_t { none, value, exception };

// What spawn_options add to a task, and its locals; absent for a plain spawn.
struct task_extras;

// The values of task-local keys: the first few in place, as reading them is what must be fast.
struct local_entry {
    std::uint64_t key = 0; // whose value it is; a key that was deleted is none's
    void *value = nullptr;
};
struct local_values {
    static constexpr std::uint32_t near_count = 6;
    local_entry near[near_count]{};
    local_entry *far = nullptr;
    std::uint32_t far_count = 0;
};

extern FULT_API const local_values no_locals;

// States in the descriptor (scheduler.md): only `ready` may be claimed. Free, private and running tasks are
// busy.
enum task_state : std::uint32_t { busy = 0, ready = 1, ready_pinned = 2 };

// The join word: who waits for the completion. Other values: a descriptor (the task that joins), or a tagged
// pointer.
enum join_word : std::uintptr_t {
    join_none = 0,
    join_done = 1,
    join_detached = 2,
    join_counter_tag = 4, // pointer to a join_counter: many children, one wake-up
    join_parker_tag = 5,  // pointer to a parker: a foreign thread joins
    join_group_tag = 6,   // pointer to a group_core: the slot is free, and the group one smaller
    join_any_tag = 7,     // pointer to an any_counter: somebody waits for the first of several
    join_tag_mask = 7,
};

inline constexpr std::size_t inline_storage = 48;

// In task::outer of a task that has started, what its end in place has to do: its locals end with it; the
// task below it on its stack is pinned, and may have to be taken back to its worker.
inline constexpr std::uintptr_t has_locals = 1;
inline constexpr std::uintptr_t leads_home = 2;
inline constexpr std::uintptr_t at_end_mask = has_locals | leads_home;

// The descriptor. Its first cache line is all that spawn and an inline join touch; the second belongs to
// suspended and published tasks. Between two uses of a slot: state busy, join none, context null, outcome
// none, extras null.
struct alignas(128) task {
    const task_ops *ops;
    // While this task runs inline in a join: the task whose join runs it, has_locals and leads_home. Before
    // it starts, in a group: the group's mark.
    task *outer;
    alignas(16) std::byte storage[inline_storage];

    std::atomic<std::uint32_t> state;
    std::atomic<std::uint32_t> token; // one retained signal
    std::atomic<std::uintptr_t> join;
    void *context; // where to jump to resume it; null while it has not started or is running
    stack *on;     // the stack that it is suspended on
    task_extras *extras;
    outcome result;
    bool pinned;
    std::uint32_t note;       // low half of the address of its wait_note; 0: none
    std::uintptr_t limit;     // the limit of `on`: a switch needs nothing else of the stack's record
    std::atomic<task *> next; // while it is handed over (worker::hand)
};
static_assert(sizeof(task) == 128);

// 64 slots of a home. Only the owner writes free and yielded, with plain stores; thieves read yielded when
// they revoke, and write moved under the revocation lock.
struct alignas(32) slot_word {
    std::uint64_t free;                 // free slots, less those of the current run
    std::atomic<std::uint64_t> yielded; // private runnable bits of tasks that have a context
    std::atomic<std::uint64_t> moved;   // private bits, of either kind, that a thief took back
};
static_assert(sizeof(slot_word) == 32);

// Consecutive free slots of one word, taken from the bottom and given back there while that is in order. The
// first slot of each word is never used: so no slot that is given back can be the one below a run of another
// word.
struct slot_run {
    task *next = nullptr; // the slot that is taken next
    task *end = nullptr;  // behind the last one
};
inline constexpr std::uint64_t usable_slots = ~std::uint64_t{1}; // of a word

// Why the owner must leave the fast path after it changed a private word.
enum attention_bits : std::uint32_t {
    hungry = 1,      // somebody looks for work and found no public bit here
    revoked = 2,     // a thief took private bits back; they stand in moved
    trim_wanted = 4, // idle memory is to be given back
    forked = 8,      // this is the child of a fork: it has one thread, and no workers
};

// Each join in place raises stack_limit by so much: the comparison that keeps a stack from running low also
// ends a long row of such joins, and a slow one lets others run (worker::end_row). One instruction a join.
inline constexpr std::uintptr_t join_step = 16;

// The part of a worker that spawn and join touch. Descriptors' hot halves lie at even multiples of a cache
// line; these lie at odd ones, because a load that has its low twelve bits in common with a store in flight
// waits for it.
struct alignas(cache_line) worker_hot {
    std::byte even_line_[cache_line]{};
    slot_run run;
    task *current = nullptr;             // the task that runs here
    std::uintptr_t stack_limit = 0;      // below it no task is started inline; join_step higher after each
    const local_values *known = nullptr; // what known_locals tells this worker's thread
    alignas(cache_line) std::byte another_even_line_[cache_line]{};
    std::atomic<std::uint32_t> attention{0};
};

inline constexpr std::uintptr_t home_size = std::uintptr_t{1} << 32;
inline constexpr std::uintptr_t home_mask = ~(home_size - 1);
inline constexpr std::uintptr_t tasks_offset = std::uintptr_t{1} << 31;
inline constexpr std::uintptr_t slot_words_offset = std::uintptr_t{1} << 25;
inline constexpr std::uintptr_t ready_bytes_offset = (std::uintptr_t{1} << 26) + 5 * cache_line;
inline constexpr unsigned task_shift = 7; // sizeof(task) == 1 << 7
inline constexpr unsigned slot_bits = 24;
inline constexpr std::uint32_t max_slots = 1u << slot_bits;

FULT_ALWAYS_INLINE worker_hot *home_of(const task *t) noexcept {
    return reinterpret_cast<worker_hot *>(reinterpret_cast<std::uintptr_t>(t) & home_mask);
}

FULT_ALWAYS_INLINE std::uint32_t slot_of(const task *t) noexcept {
    return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(t) & (tasks_offset - 1)) >>
                                      task_shift);
}

// Whether t's home is that of w, and its slot, in few instructions: another home is at least home_size away.
FULT_ALWAYS_INLINE std::uintptr_t distance_in_slots(const worker_hot *w, const task *t) noexcept {
    return (reinterpret_cast<std::uintptr_t>(t) - reinterpret_cast<std::uintptr_t>(w)) >> task_shift;
}
inline constexpr std::uintptr_t slots_in_home = home_size >> task_shift;

FULT_ALWAYS_INLINE slot_word *slot_words(worker_hot *home) noexcept {
    return reinterpret_cast<slot_word *>(reinterpret_cast<std::uintptr_t>(home) + slot_words_offset);
}

// The private runnable bits of tasks that have not started: a byte a slot. Spawn and join store single bytes,
// which do not depend on each other; read-modify-writes of a shared word would form one chain through memory,
// and its latency is the bound there.
using ready_byte = std::atomic<std::uint8_t>;
static_assert(sizeof(ready_byte) == 1);

FULT_ALWAYS_INLINE ready_byte *ready_bytes(worker_hot *home) noexcept {
    return reinterpret_cast<ready_byte *>(reinterpret_cast<std::uintptr_t>(home) + ready_bytes_offset);
}

// The byte of a slot by its distance_in_slots.
FULT_ALWAYS_INLINE ready_byte *ready_byte_at(worker_hot *home, std::uintptr_t distance) noexcept {
    return reinterpret_cast<ready_byte *>(reinterpret_cast<std::uintptr_t>(home) +
                                          (ready_bytes_offset - (tasks_offset >> task_shift)) + distance);
}

FULT_ALWAYS_INLINE task *tasks_of(worker_hot *home) noexcept {
    return reinterpret_cast<task *>(reinterpret_cast<std::uintptr_t>(home) + tasks_offset);
}

FULT_ALWAYS_INLINE std::uint64_t bit_of(std::uint32_t slot) noexcept {
    return std::uint64_t{1} << (slot & 63);
}

} // namespace fult::detail
