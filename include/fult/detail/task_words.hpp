// The words of a descriptor that are a pointer with a tag or with flags: task::join and task::outer.
#pragma once

#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>
#include <fult/task_id.hpp>

namespace fult::detail {

struct task;
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

} // namespace fult::detail
