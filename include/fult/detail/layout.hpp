// The memory layout of a home. Everything is found by address arithmetic.
//
// A home is a region of address space, aligned to its own size. Its lower half begins with the worker object
// and contains the words, one bit per slot; its upper half contains the descriptors. The address of a
// descriptor determines its home (mask), its slot (shift) and its words (base + constant): signal(task) reads
// no pointer and never touches the descriptor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

struct task;
struct stack;
class group_core;

// A task id: the address of the descriptor, and the lowest bit for a pinned task.
inline task_id make_id(const task *t, bool pinned) noexcept {
    return task_id::from_value(address_of(t) | (pinned ? 1u : 0u));
}
inline bool is_pinned(task_id id) noexcept { return (id.value() & 1) != 0; }
inline task *task_of(task_id id) noexcept { return at_address<task>(id.value() & ~std::uintptr_t{1}); }

// What the low three bits of a join word mean. Descriptors are aligned to 128 bytes and the other objects to
// 8, so a pointer leaves them free; an id uses the lowest for a pinned task.
enum class join_tag : std::uintptr_t {
    task = 0,
    pinned_task = 1,
    thread = 4,     // parker: that of a foreign thread. Only in a completion
    completion = 5, // completion: a thread joins, or one wait is for several tasks
    group = 6,      // completion of a group: the slot is freed first
};

// What is notified of a task's completion: nothing, a task, or a tagged pointer. `done` and `detached` have
// the values of no address. tests/model/completion.pml has the transitions:
//   none -> waiter -> done; none -> done; none -> detached -> done; completion -> none (await_any withdraws)
class join_word {
  public:
    constexpr join_word() noexcept = default; // none
    static join_word of(task_id joiner) noexcept { return join_word(joiner.value()); }
    static join_word of(join_tag tag, const void *what) noexcept {
        FULT_ASSERT((address_of(what) & tag_mask) == 0, "a tagged object is aligned");
        return join_word(address_of(what) | static_cast<std::uintptr_t>(tag));
    }
    static constexpr join_word done() noexcept { return join_word(1); }
    static constexpr join_word detached() noexcept { return join_word(2); }

    constexpr bool is_waiter() const noexcept { return value_ > detached().value_; }
    join_tag tag() const noexcept {
        FULT_ASSERT(is_waiter(), "only a waiter has a tag");
        return static_cast<join_tag>(value_ & tag_mask);
    }
    // The object of a tagged pointer.
    template <class T> T *as(join_tag expected) const noexcept {
        FULT_ASSERT(tag() == expected, "a join word is read as what it is");
        return at_address<T>(value_ - static_cast<std::uintptr_t>(expected));
    }
    // The waiting task. The id may be stale; its address must not be dereferenced.
    task_id joiner() const noexcept {
        FULT_ASSERT(tag() == join_tag::task || tag() == join_tag::pinned_task);
        return task_id::from_value(value_);
    }

    friend constexpr bool operator==(join_word, join_word) noexcept = default;

  private:
    static constexpr std::uintptr_t tag_mask = 7;
    constexpr explicit join_word(std::uintptr_t value) noexcept : value_(value) {}
    std::uintptr_t value_ = 0;
};
static_assert(sizeof(join_word) == sizeof(void *));

inline constexpr join_word join_none{}, join_done = join_word::done(), join_detached = join_word::detached();
static_assert(!join_none.is_waiter() && !join_done.is_waiter() && !join_detached.is_waiter());

// What is left to do when an inline task ends.
enum at_end_flag : std::uintptr_t {
    has_locals = 1, // its task-local values must be destroyed
    leads_home = 2, // the task below it on its stack is pinned and may have to return to its worker
    was_tied = 4,   // it was pinned when it suspended on a tied stack
};
inline constexpr std::uintptr_t at_end_mask = has_locals | leads_home | was_tied;

// task::outer. Its meaning changes when the task starts, and only its owner may know which one is valid:
//   before a task of a group starts: the group's mark
//   while a task runs: the task below it on its stack, whose join or group runs it, and flags; no task below
//   is 0
class outer_word {
  public:
    constexpr outer_word() noexcept = default; // the first task on its stack
    FULT_ALWAYS_INLINE static outer_word above(task *below) noexcept { return outer_word(address_of(below)); }
    FULT_ALWAYS_INLINE static outer_word mark_of(const group_core *group) noexcept {
        return outer_word(address_of(group) | mark_bit);
    }

    task *below() const noexcept { return at_address<task>(value_ & ~at_end_mask); }
    bool has(at_end_flag what) const noexcept { return (value_ & what) != 0; }
    void add(at_end_flag what) noexcept { value_ |= what; }
    // For the inspector, which reads it while its owner writes: any value that it ever had.
    const volatile std::uintptr_t &racy_value() const noexcept { return value_; }

    friend constexpr bool operator==(outer_word, outer_word) noexcept = default;

  private:
    static constexpr std::uintptr_t mark_bit = 1; // no mark equals the address of a task
    FULT_ALWAYS_INLINE constexpr explicit outer_word(std::uintptr_t value) noexcept : value_(value) {}
    std::uintptr_t value_ = 0;
};
static_assert(sizeof(outer_word) == sizeof(void *));

// How a task's callable is run, and how its stored result is dropped.
struct task_ops {
    void (*run)(task &) noexcept;  // invokes the closure in storage, then stores the result there
    void (*drop)(task &) noexcept; // destroys the result in storage
    // Of a claimed task that has not started: true if the calling worker may start it. Null: any may.
    // A thief always asks, a worker for its own tasks only while it is selective (tied.hpp).
    bool (*may_start)(const task &) noexcept = nullptr;
};

enum class result_kind : std::uint8_t { none, value, exception };

// What spawn_options add to a task, and its task-local values; absent for a plain spawn.
struct task_extras;

// The values of task-local keys: the first few are stored inline, since reading them must be fast.
struct local_entry {
    std::uint64_t key = 0; // a deleted key has no values
    void *value = nullptr;
};
struct local_values {
    static constexpr std::uint32_t near_count = 6;
    local_entry near[near_count]{};
    local_entry *far = nullptr;
    std::uint32_t far_count = 0;
};

extern FULT_API const local_values no_locals;

// States in the descriptor (docs/scheduler.md): only `ready` and `ready_pinned` may be claimed. Free, private
// and running tasks are busy.
enum task_state : std::uint32_t { busy = 0, ready = 1, ready_pinned = 2 };

inline constexpr std::size_t inline_storage = 48;

// The descriptor. Spawn and an inline join touch only its first cache line; the second is for suspended and
// published tasks. Between two uses of a slot: state busy, join none, context null, result none, extras null.
struct alignas(128) task {
    const task_ops *ops;
    outer_word outer;
    alignas(16) std::byte storage[inline_storage];

    std::atomic<task_state> state;             // written by the functions of fult/tasks/task.hpp
    std::atomic<std::uint32_t> pending_wakeup; // one retained signal
    std::atomic<join_word> join;
    void *context;        // the saved context; null while it is unstarted or running
    detail::stack *stack; // the stack on which it is suspended
    task_extras *extras;
    result_kind result;
    bool pinned;
    std::atomic<std::uint16_t> c_handles_taken; // of all tasks of the slot (fult/c_api/c_handles.hpp)
    std::uint32_t wait_record;                  // low half of the address of its wait_record; 0: none
    std::uintptr_t limit; // the limit of `stack`: a switch needs nothing else from the stack's record
    // While it is claimed: the next of a chain, of handed-off tasks (handed_off_chain) or of tasks that a
    // search passed over (ready_set::put_back).
    std::atomic<task *> next;
};
static_assert(sizeof(task) == 128);
static_assert(std::atomic<join_word>::is_always_lock_free && std::atomic<task_state>::is_always_lock_free);

// The object in the storage of t: its closure, or its result.
template <class T> T &storage_as(task &t) noexcept { return *std::launder(reinterpret_cast<T *>(t.storage)); }

// 64 slots of a home. Only the owner writes free and yielded, by plain stores; thieves read yielded when they
// revoke, and write moved under the revocation lock.
struct alignas(32) slot_word {
    std::uint64_t free;                 // free slots, without those of the current run
    std::atomic<std::uint64_t> yielded; // private ready bits of tasks that have a context
    std::atomic<std::uint64_t> moved;   // private bits, of either kind, that a thief revoked
};
static_assert(sizeof(slot_word) == 32);

// Consecutive free slots of one word, taken from the bottom and freed there if freed in reverse order. The
// first slot of each word is never used, so a freed slot cannot be the one just below a run of another word.
struct slot_run {
    task *next = nullptr; // the slot that is taken next
    task *end = nullptr;  // one past the last slot
};
inline constexpr std::uint64_t usable_slots = ~std::uint64_t{1}; // of a word

// The reasons for the owner to leave the fast path after it changed a private word.
enum request_flag : std::uint32_t {
    work_requested = 1, // a worker searches and found no public bit here
    revoked = 2,        // a thief revoked private bits; they are in moved
    trim_requested = 4, // idle memory must be given back
    forked = 8,         // this is the child of a fork: one thread, no workers
};

// Each spawn raises stack_limit by this much. So the comparison that protects the stack also ends a long row
// of spawns and inline joins: a join on the slow path lets other tasks run (worker::end_row). One instruction
// per spawn; at the join, between the comparison and the claim, it made fib an eighth slower. Joins of tasks
// that were spawned long before are counted where their slots return on the slow path, at least once per
// word.
inline constexpr std::uintptr_t row_step = 16;

// The part of a worker that spawn and join touch. The hot halves of descriptors are at even multiples of a
// cache line, these at odd ones: a load waits for a store in flight that has the same low twelve address
// bits.
struct alignas(cache_line) worker_hot {
    std::byte even_line_[cache_line]{};
    slot_run run;
    task *current = nullptr;        // the task that runs here
    std::uintptr_t stack_limit = 0; // no task is started inline below it; raised by row_step per spawn
    const local_values *locals_cache = nullptr; // copy of this thread's cached_locals
    alignas(cache_line) std::byte another_even_line_[cache_line]{};
    std::atomic<std::uint32_t> request_flags{0};
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
    return at_address<worker_hot>(address_of(t) & home_mask);
}

FULT_ALWAYS_INLINE std::uint32_t slot_of(const task *t) noexcept {
    return static_cast<std::uint32_t>((address_of(t) & (tasks_offset - 1)) >> task_shift);
}

// The slot of t relative to w; below slots_in_home if w is t's home: another home is at least home_size away.
FULT_ALWAYS_INLINE std::uintptr_t distance_in_slots(const worker_hot *w, const task *t) noexcept {
    return (address_of(t) - address_of(w)) >> task_shift;
}
inline constexpr std::uintptr_t slots_in_home = home_size >> task_shift;
FULT_ALWAYS_INLINE task *task_at_distance(worker_hot *home, std::uintptr_t distance) noexcept {
    return at_address<task>(address_of(home) + (distance << task_shift));
}

FULT_ALWAYS_INLINE slot_word *slot_words(worker_hot *home) noexcept {
    return at_address<slot_word>(address_of(home) + slot_words_offset);
}

// The private ready bits of unstarted tasks: one byte per slot. Spawn and join store single bytes, which do
// not depend on each other. Read-modify-writes of a shared word would form one chain through memory, and its
// latency would be the bound.
using ready_byte = std::atomic<std::uint8_t>;
static_assert(sizeof(ready_byte) == 1);

FULT_ALWAYS_INLINE ready_byte *ready_bytes(worker_hot *home) noexcept {
    return at_address<ready_byte>(address_of(home) + ready_bytes_offset);
}

// The byte of a slot by its distance_in_slots.
FULT_ALWAYS_INLINE ready_byte *ready_byte_at(worker_hot *home, std::uintptr_t distance) noexcept {
    return at_address<ready_byte>(address_of(home) + (ready_bytes_offset - (tasks_offset >> task_shift)) +
                                  distance);
}

FULT_ALWAYS_INLINE task *tasks_of(worker_hot *home) noexcept {
    return at_address<task>(address_of(home) + tasks_offset);
}

FULT_ALWAYS_INLINE std::uint64_t bit_of(std::uint32_t slot) noexcept {
    return std::uint64_t{1} << (slot & 63);
}

} // namespace fult::detail
