// A worker: a kernel thread that runs tasks, and the home of the tasks spawned on it. It lies at the
// beginning of its home.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <fult/detail/layout.hpp>

#include "context.hpp"
#include "parker.hpp"
#include "random.hpp"
#include "ready_set.hpp"
#include "slot_allocator.hpp"
#include "spin_lock.hpp"
#include "stack.hpp"
#include "team.hpp"

namespace fult::detail {

// The C++ runtime's record of exceptions in flight (Itanium ABI, 2.2.2), which belongs to the task and moves
// with it.
struct exceptions_in_flight {
    void *caught;
    unsigned uncaught;
};

// What the next context does for the one that was left, in the low bits of the word that a jump carries: only
// then are the registers saved, and others may run it.
enum class leave : std::uintptr_t {
    base = 0,  // the worker's own context was left
    park = 1,  // the task waits for a signal
    yield = 2, // the task is ready
    idle = 3,  // the stack has no task any more
};

// Words in each half of a home for so many tasks.
inline constexpr std::size_t slots_in_word = std::popcount(usable_slots);
constexpr std::size_t words_for(std::size_t max_tasks) noexcept {
    return (max_tasks + slots_in_word - 1) / slots_in_word;
}

class alignas(cache_line) worker : public worker_hot {
  public:
    // Makes the home and its worker in it. Throws std::system_error where memory is lacking.
    static worker *create(team &owner, unsigned index);
    static void destroy(worker *w) noexcept;

    team &crew;
    const unsigned index;
    ready_set tasks;

    // The thread ------------------------------------------------------------------------------------------------------------
    void enter_thread(); // makes this the calling thread's worker
    void leave_thread() noexcept;
    void serve(); // until the team stops; on the thread's own stack
    void set_neighbours(const std::vector<std::vector<unsigned>> &groups);
    // The first stacks; with_base: one for the worker's own context too, where its thread's stack is the main
    // task's.
    bool open_stacks(bool with_base) noexcept;

    bool no_turns = false; // spawn does not suspend here now (detail/service.hpp); the worker's

    // Slots: the lower half of the home is the worker's own, the upper one is for others, under a lock ------------------------
    task *take_own_slot() noexcept;
    bool is_far_ahead() const noexcept { return slots_.is_far_ahead(); }
    task *take_shared_slot() noexcept;
    // Not the one before the run of slots, which release_slot knows; or any, where that run is hidden.
    FULT_ALWAYS_INLINE void release_own_slot(task *t) noexcept {
        if (slots_.release_elsewhere(slot_of(t))) [[unlikely]]
            follow_slot(t);
    }
    std::uint64_t living() noexcept; // slots taken; exact while nobody spawns
    std::uint64_t ended() noexcept;  // of these, by tasks that have ended and wait to be joined
    // What spawn_options added to a task of this home; the inspector reads names under the same lock.
    void set_extras(task *t, std::unique_ptr<task_extras> extras) noexcept;
    spin_lock &extras_lock() noexcept { return extras_lock_; }

    // Whether the slot is free for certain; false says nothing. From any thread.
    bool is_free(const task *t) const noexcept;

    // Where tasks of this home were spawned, while option spawn_sites is on.
    void note_site(const task *t) noexcept; // by the spawner
    std::size_t site_of(const task *t, std::span<void *> into) const noexcept;
    static constexpr std::size_t site_frames = 6;

    // Scheduling, on the calling thread -----------------------------------------------------------------------------------------
    task *pick(bool yielding) noexcept; // claims a ready task of this home, or null
    bool has_work() noexcept;           // whether pick may find something
    // Also looks at the other workers, and takes back what those hide that reach no decision.
    bool work_anywhere(bool handed_too) noexcept;
    bool has_own_work() noexcept { // the same, where no other worker's lines must be looked at
        return handed_.load(std::memory_order_relaxed) != nullptr || tasks.any_private();
    }
    // Scheduling decisions of a task that does not give way by itself (fairness.cpp). take_turn: others run
    // now if any of them waits for its turn. count_turn: every 32nd call does that. end_row: of joins in
    // place, where the stack seems to be low for one more; where it is not, others have their turn.
    void take_turn(bool unstarted_too = true) noexcept;
    void count_turn() noexcept {
        if (tick() % fairness == 0)
            take_turn();
    }
    void end_row() noexcept;
    bool polled_for_long() noexcept { return ++polls_ % long_poll == 0; }
    bool failed_for_long() noexcept { return ++failures_ % long_poll == 0; }
    void switch_from(task *self, leave how,
                     task *next) noexcept;       // returns when self is resumed, maybe elsewhere
    void make_ready(task *t) noexcept;           // t may run: private here if it can be, else public
    void feed() noexcept;                        // publishes for the hungry
    task *claim_or_signal(task_id who) noexcept; // signals; null, or the caller is to hand it over
    void hand(task *first, task *last) noexcept; // claimed tasks, chained by `next`, go on here
    // A lock that a task here has left, and for which others queue: this worker's next decision passes it on,
    // or a thief, unless a task here takes it back before. keep: false where others were handed over before.
    using pass_on_function = task *(*)(void *lock, worker &here) noexcept; // the next owner, claimed, or null
    bool keep(void *lock, pass_on_function pass_on) noexcept;
    bool take_back(const void *lock) noexcept;
    const task *handed() const noexcept { return handed_.load(std::memory_order_acquire); } // or a kept lock
    bool took_signal(task *self) noexcept; // consumes a retained signal, or one in self's own public word
    std::atomic<std::uint32_t> looking{0}; // awake, and watching its own words
    void stop_looking() noexcept;
    // Gives idle stacks and descriptors back; the shared part from any thread (trim.cpp).
    void trim() noexcept;
    void trim_as_requested() noexcept;
    void trim_shared() noexcept;
    void forget_handed() noexcept {
        handed_.store(nullptr, std::memory_order_relaxed);
    } // the child of a fork
    stack *here() const noexcept { return here_; }
    exceptions_in_flight &exceptions() const noexcept { return *exceptions_; }
    void adopt_main(task *main, stack *its_stack) noexcept;
    static bool is_kept(const task *t) noexcept { return (reinterpret_cast<std::uintptr_t>(t) & 1) != 0; }

    parker sleep;
    // Milliseconds of sleep after which settle_down is called; then again after as many as it returns, -1:
    // not again. And rouse when the sleep ends. Who watches meanwhile (services) is counted as settled only
    // where it does nothing but sleep. By the worker.
    int settles_after() const noexcept;
    int settle_down(bool watches) noexcept;
    bool be_counted(bool settled) noexcept;
    void rouse() noexcept;

  private:
    void follow_slot(task *t) noexcept;
    task *take_handed() noexcept;
    static task *kept(const void *lock) noexcept { // how it stands in handed_, alone
        return reinterpret_cast<task *>(reinterpret_cast<std::uintptr_t>(lock) | 1);
    }
    void tell_handed() noexcept;
    task *pass_on(const worker &from, const task *what) noexcept;
    task *steal_handed() noexcept;
    void take_over_handed(task *chain) noexcept;

    worker(team &owner, unsigned index) noexcept;

    // switching (switch.hpp, switch.cpp)
    static void stack_main(boost::context::detail::transfer_t in) noexcept;
    static void base_main(boost::context::detail::transfer_t in) noexcept;
    static worker *arrive(arrival in, void *fake) noexcept;
    worker *jump_to(void *target, stack *on, std::uintptr_t limit, std::uintptr_t word) noexcept;
    worker *resume(task *next, std::uintptr_t word) noexcept;
    worker *start(task *next, std::uintptr_t word) noexcept;
    worker *go_to_base(std::uintptr_t word) noexcept;
    static void run_task(task *t) noexcept;
    bool fits_here(const task *t) const noexcept;
    stack *take_stack(const task *t) noexcept;
    void give_stack(stack *s) noexcept;
    void put_back(task *t) noexcept;

    // Tasks that were claimed for this worker and wait for its next decision, chained by `next`: what a
    // running task granted (sync/). Only this worker pushes and pops; others take all at once. Or a lock.
    alignas(cache_line) std::atomic<task *> handed_{nullptr};
    std::atomic<std::uint32_t> hands_{0}; // how often; written by this worker alone
    std::atomic<pass_on_function> pass_on_{nullptr};
    unsigned watched_ = 0;            // the worker at whose chain this one looked last,
    task *watched_first_ = nullptr;   // what came first there,
    std::uint32_t watched_hands_ = 0; // and how often it had handed over

    task *pick_otherwise(bool yielding) noexcept;
    task *pick_started(bool fair) noexcept;

    // fairness (fairness.cpp): where ready tasks are found, each as a sweep that reaches all of them
    using source = task *(worker::*)() noexcept;
    static const source sources[];
    task *pick_for_fairness(bool unstarted_too = true) noexcept;
    task *take_own_unstarted() noexcept { return tasks.take_ready_in_turn(); }
    task *take_own_yielded() noexcept { return tasks.take_yielded_in_turn(); }
    task *take_own_pinned() noexcept { return tasks.take_pinned_in_turn(); }
    task *take_own_public() noexcept { return tasks.take_public_in_turn(); }
    task *take_oldest_handed() noexcept;
    task *take_foreign() noexcept;
    task *take_of_others() noexcept;
    task *take_hidden() noexcept;
    task *steal_from_slot(worker &victim, std::uint32_t &slot) noexcept;
    unsigned other_after(unsigned number) const noexcept;
    std::uint32_t tick() noexcept { // counts a decision
        const std::uint32_t next = tick_.load(std::memory_order_relaxed) + 1;
        tick_.store(next, std::memory_order_relaxed);
        return next;
    }
    bool is_fair_turn() const noexcept { return (tick_.load(std::memory_order_relaxed) + 1) % fairness == 0; }

    // looking for work (search.cpp)
    task *find() noexcept;
    task *search() noexcept;
    task *steal_from(worker &victim, bool &forwarded) noexcept;
    task *steal_round() noexcept;
    bool revoke_round() noexcept;
    void ask_for_work() noexcept;
    enum class rest { until_woken, short_while };
    void nap(rest how) noexcept;
    void sleep_until_woken(std::uint32_t prepared) noexcept;
    std::uint32_t hands_of_others() const noexcept;

    slot_allocator slots_;
    slot_run
        hidden_run_; // the own slots' run where spawns must be seen one by one: the fast path finds none then
    spin_lock shared_lock_;
    slot_run shared_run_;
    slot_allocator shared_slots_;
    spin_lock extras_lock_;
    std::atomic<void *> *sites_ = nullptr; // site_frames a slot

    stack *here_ = nullptr;    // the stack that runs
    task *incoming_ = nullptr; // for the stack that is jumped to
    void *base_ = nullptr;     // this worker's own context
    stack base_stack_;
    stack *base_pooled_ = nullptr;
    stack *stacks_ = nullptr; // a few idle ones
    unsigned stack_count_ = 0;
    int *errno_ = nullptr;
    exceptions_in_flight *exceptions_ = nullptr;
    std::uintptr_t floor_ = 0;                      // the running stack's limit, without what joins added
    static constexpr std::uint32_t fairness = 32;   // decisions
    static constexpr std::uint32_t long_poll = 256; // waits that were polled for, or tries that failed
    std::atomic<std::uint32_t> tick_{0};            // decisions; written by this worker alone
    std::uint32_t polls_ = 0, failures_ = 0;
    std::uint32_t asked_for_oldest_ = 0;
    std::uint32_t turn_ = 0;         // of the sources, in decisions for fairness
    std::uint32_t rows_ = 0;         // of joins in place that have ended
    std::uint32_t foreign_slot_ = 0; // where the sweep over the home of foreign threads stands,
    unsigned toured_;                // and that over the other workers' homes
    std::uint32_t toured_slot_ = 0;
    std::uint32_t asked_for_hidden_ = 0;
    unsigned suspect_; // the worker that was looked at last, and its decisions then
    std::uint32_t suspect_ticks_ = 0;
    random_source random_;
    std::vector<std::vector<worker *>> victims_; // nearest first
    int next_look_ = 0;                          // milliseconds; not 0 while settled down
    bool settled_last_ = false;                  // when it settled, all others had
    bool counted_ = false;                       // among those settled
};

// Newest first by default; who yields prefers others that have a stack already to starting new ones. Every
// few decisions something else comes first, so that each ready task is reached in the end.
FULT_ALWAYS_INLINE task *worker::pick(bool yielding) noexcept {
    if (yielding && !is_fair_turn() && attention.load(std::memory_order_relaxed) == 0 &&
        handed_.load(std::memory_order_relaxed) == nullptr) [[likely]]
        if (task *t = tasks.take_yielded_at_turn()) {
            tick();
            return t;
        }
    return pick_otherwise(yielding);
}

// As fult::signal, but for names that may be those of tasks that have ended: a spurious wake-up, at worst.
void post_signal(task_id id) noexcept;

extern worker_hot no_worker; // what foreign threads have

// The worker of the calling thread, or null on a foreign one.
inline worker *this_worker() noexcept {
    worker_hot *w = current_worker();
    return w == &no_worker ? nullptr : static_cast<worker *>(w);
}

} // namespace fult::detail
