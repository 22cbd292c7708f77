// Counting of children, for taskwait, taskgroup and barriers.
//
// A counter of a task counts those that were generated while it is the innermost: those whose bodies have not
// ended, and those whose whole tree (the task and all its descendants) has not ended. Its owner is tied to a
// thread. So children that are generated and end there are counted by plain stores; only a child that ends
// elsewhere needs an atomic operation.
//
// The word `elsewhere` has a mode:
//   counting: the ends on other threads. outstanding = live - elsewhere
//   waiting:  mode * mode_unit - outstanding, and live is 0. All ends are atomic now, so exactly one of them
//             reaches zero; it notifies the owner, or ends the tree of a zombie.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/assertion.hpp>
#include <fult/detail/completion.hpp>
#include <fult/detail/platform.hpp>

#include "constraint.hpp"

namespace fult::omp {

struct omp_task;
struct thread_state;

// One child, in the units of a counter's words.
inline constexpr std::int64_t one_body = 1;
inline constexpr std::int64_t one_tree = std::int64_t{1} << 32;
inline constexpr std::int64_t one_task = one_body + one_tree;
constexpr std::uint32_t bodies_in(std::int64_t n) noexcept { return static_cast<std::uint32_t>(n); }
constexpr std::uint32_t trees_in(std::int64_t n) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(n) >> 32);
}

// A number of children: a body is over before its tree is.
constexpr bool is_count(std::int64_t n) noexcept { return n >= 0 && bodies_in(n) <= trees_in(n); }
static_assert(bodies_in(3 * one_task) == 3 && trees_in(3 * one_task) == 3);
static_assert(is_count(one_task) && is_count(one_tree) && !is_count(one_body) && !is_count(-one_tree));

enum class wait_mode : std::uint32_t {
    counting,   // no wait
    for_bodies, // the owner waits until the bodies of all children have ended
    for_trees,  // the owner waits until all descendants have ended
    zombie,     // the owner's body has ended; the last descendant ends its tree
};

// What the owner of a counter waits for. From nothing to late_task and back, any number of times; from both
// to last_end. The thread that leaves `nothing` ends the completion.
enum class notice : std::uint32_t {
    nothing,
    late_task, // one became ready that the owner's thread runs (late_tasks.hpp)
    last_end,  // by the last end, whose last access to the counter this is
};

// A waiting word is in ((mode - 1/2) * mode_unit, mode * mode_unit]; a counting one is below mode_unit / 2.
inline constexpr std::int64_t mode_unit = std::int64_t{1} << 61;
constexpr std::int64_t units_of(wait_mode m) noexcept { return static_cast<std::int64_t>(m) * mode_unit; }
constexpr wait_mode mode_of(std::int64_t word) noexcept {
    return static_cast<wait_mode>((word + mode_unit / 2 - 1) / mode_unit);
}

inline constexpr std::int64_t max_children = (std::int64_t{1} << 27) * one_task;
static_assert(mode_of(0) == wait_mode::counting && mode_of(max_children) == wait_mode::counting &&
              mode_of(-max_children) == wait_mode::counting);
static_assert(mode_of(units_of(wait_mode::for_bodies)) == wait_mode::for_bodies &&
              mode_of(units_of(wait_mode::for_bodies) - max_children) == wait_mode::for_bodies);
static_assert(mode_of(units_of(wait_mode::zombie)) == wait_mode::zombie &&
              mode_of(units_of(wait_mode::zombie) - max_children) == wait_mode::zombie);

// In a task, the owner's thread writes the last member for each child, and other threads use the rest: they
// are in different cache lines there.
struct child_counter {
    std::atomic<std::int64_t> elsewhere{0};
    omp_task *owner;
    child_counter *outer; // innermost counter of the owner before this one; null: the owner's first
    std::atomic<wait_mode> mode{wait_mode::counting};
    // Set by wait:
    std::atomic<notice> notified;
    std::atomic<detail::completion *> waiter;
    const thread_state *at; // the owner's, once it has started
    std::int64_t live = 0;  // written by the owner's thread

    // Of a task. What is not set here is set when it is needed: each task has one, and few wait.
    explicit child_counter(omp_task *owner) noexcept : owner(owner), outer(nullptr) {} // NOLINT
    // Within a task that has started.
    child_counter(omp_task *owner, child_counter *outer, const thread_state *at) noexcept
        : owner(owner), outer(outer), at(at) {} // NOLINT

    std::int64_t outstanding() const noexcept { // on the owner's thread
        const std::int64_t n = live - elsewhere.load(std::memory_order_acquire);
        FULT_ASSERT(is_count(n), "no child ends twice");
        return n;
    }
    bool is_empty() const noexcept { return live == 0 && elsewhere.load(std::memory_order_relaxed) == 0; }

    // None of its tasks is left, and no other thread uses it: for assertions.
    bool has_ended() const noexcept {
        const std::int64_t word = elsewhere.load(std::memory_order_acquire);
        return mode_of(word) == wait_mode::counting ? live == word
                                                    : live == 0 && word == units_of(wait_mode::zombie);
    }

    // The owner waits. Suspends, unless the count is zero; meanwhile its thread begins `what`. For a foreign
    // thread: blocks it.
    void wait(wait_mode awaited, begins what = begins::descendants);
    // Of that wait:
    bool all_ended() const noexcept {
        return notified.load(std::memory_order_acquire) == notice::last_end; // pairs with notify
    }
    bool await_notice() noexcept;       // once more after false: a late task, which is forgotten
    void announce_late_task() noexcept; // from any thread, while the owner cannot leave
};

// That of a taskgroup.
struct group_counter : child_counter {
    void *reductions = nullptr; // a list of descriptors (reductions.hpp)
    std::atomic<bool> cancelled{false};
    // Of the task reductions of a work-sharing construct: `cancel taskgroup` means the one around it.
    bool of_construct = false;
    using child_counter::child_counter;
};

// `n` (bodies, trees) of s have ended, on the thread of `at`; null: on a thread that has none.
FULT_ALWAYS_INLINE void count_end(child_counter &s, std::int64_t n,
                                  const thread_state *at) noexcept; // tasks.hpp
void count_end_elsewhere(child_counter &s, std::int64_t n, const thread_state *at) noexcept;

} // namespace fult::omp
