// The implementation of task_group: spawn without atomics by the owning task, one counter for all other
// spawners.
//
// A task of a group has no handle and is never joined. The owner's wait claims the tasks that are still
// private and runs them inline, as a join does. Each other task decrements the group's count when it ends,
// and the last one signals the waiter (tests/model/group.pml).
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/detail/completion.hpp>
#include <fult/detail/exceptions.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/detail/spin_lock.hpp>

namespace fult::detail {

class FULT_API group_core {
  public:
    group_core() noexcept;
    group_core(const group_core &) = delete;
    group_core &operator=(const group_core &) = delete;

    // From the group's tasks and their spawners -------------------------------------------------------------
    template <class C> FULT_ALWAYS_INLINE void spawn(C &&closure);
    template <class C> void spawn_with(task *slot, C &&closure) noexcept; // in a slot with options
    bool is_stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
    void fail() noexcept;                // called in a handler: this exception left a task
    void fail_with(void *what) noexcept; // the same in C
    completion &ends() noexcept { return ends_; }

    // From any thread ---------------------------------------------------------------------------------------
    void request_stop() noexcept;
    std::stop_token token(); // throws std::bad_alloc

    // From the waiter ----------------------------------------------------------------------------------------
    void wait_until_empty() noexcept;
    bool is_left_by_exception() const noexcept { return in_flight() > in_flight_; }
    std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }
    void *take_failure() noexcept { return std::exchange(failure_, nullptr); }
    void reset() noexcept; // clears the stop and the failure

  private:
    FULT_ALWAYS_INLINE void enter(worker_hot *w, task *t) noexcept;
    bool is_owned_by(const worker_hot *w) const noexcept { return owner_ && w->current == owner_; }
    std::int64_t uncounted() const noexcept { return own_.load(std::memory_order_relaxed) - counted_; }
    std::int64_t take_uncounted() noexcept;
    bool fail_first() noexcept;
    static int in_flight() noexcept; // number of exceptions in flight
    void run_own() noexcept;
    // the result of run_one: not run, or run to its end on the same or on another worker
    enum class run_end { not_run, same_worker, other_worker };
    run_end run_one(worker_hot *w, task *t) noexcept;
    run_end run_newest(worker_hot *w, const task *above, std::int64_t &found) noexcept;
    outer_word mark() const noexcept { return outer_word::mark_of(this); }

    // The owner is the task in the slot of the task that created the group; null if a foreign thread did. The
    // group may outlive its creator, whose slot another task may use then: that one is also the owner, and
    // the only one, since tasks of a slot follow each other. This does not imply that a waiting task, if it
    // is not the owner, has seen all that owners spawn: an owner may be a task of the group that is running.
    task *const owner_;
    const int in_flight_;              // at construction
    task *highest_ = nullptr;          // owner: the highest slot in which it spawned,
    std::atomic<std::int64_t> own_{0}; // and the number of tasks it spawned and has not run itself
    std::int64_t counted_ = 0;         // waiter: the number of these that ends_ includes
    completion ends_;                  // of tasks of others, less those of uncounted tasks that have ended
    std::atomic<bool> stopped_{false};
    std::atomic<bool> failed_{false}; // the thread that sets it writes one of the next two
    std::exception_ptr error_;
    void *failure_ = nullptr;
    spin_lock source_lock_;
    std::stop_source source_{std::nostopstate}; // created on the first call of token()
};

// A callable of a group with its arguments. Not called if a stop was requested before it begins.
template <class F, class... A> struct group_call {
    group_core *group;
    [[no_unique_address]] F function;
    [[no_unique_address]] std::tuple<A...> arguments;

    void operator()() &&noexcept {
        if (group->is_stopped()) [[unlikely]]
            return;
        FULT_TRY {
            std::apply(
                [this](A &...each) {
                    if constexpr (std::is_invocable_v<F, std::stop_token, A...>)
                        (void)std::invoke(std::move(function), group->token(), std::move(each)...);
                    else
                        (void)std::invoke(std::move(function), std::move(each)...);
                },
                arguments);
        }
        FULT_CATCH_ALL { group->fail(); }
    }
};

// The operations of a group's task, which replace closure_ops. `here` runs and ends it on the caller's stack.
struct group_task_ops : task_ops {
    void (*here)(task &) noexcept;
};

template <class C> struct group_closure_ops {
    static group_core *group_of(C &closure) noexcept {
        if constexpr (requires { closure.callable; }) // a boxed_closure
            return closure.callable->group;
        else
            return closure.group;
    }
    static void here(task &t) noexcept {
        std::move(storage_as<C>(t))();
        storage_as<C>(t).~C();
    }
    // Runs on a stack of its own. No other thread touches the join word, so `complete` finds what is stored
    // here.
    static void run(task &t) noexcept {
        group_core *group = group_of(storage_as<C>(t));
        here(t);
        t.join.store(join_word::of(join_tag::group, &group->ends()), std::memory_order_relaxed);
    }
    static void drop(task &) noexcept {} // there is no result

    static constexpr group_task_ops table{{&run, &drop}, &here};
};

// Adds the task to the group, before any worker can run it.
FULT_ALWAYS_INLINE void group_core::enter(worker_hot *w, task *t) noexcept {
    t->outer = mark();
    if (is_owned_by(w)) {
        increment_own(own_);
        if (t > highest_)
            highest_ = t;
    } else {
        // before the spawner's own decrement, if it is a member
        ends_.add_one();
    }
}

template <class C> FULT_ALWAYS_INLINE void group_core::spawn(C &&closure) {
    using closure_type = std::remove_cvref_t<C>;
    worker_hot *w = current_worker();
    if (!has_private_slot(w)) [[unlikely]] {
        spawn_with(take_slot_slow(), std::move(closure));
        return;
    }
    task *const t = take_private_slot(w); // the wait counts it in a row
    t->ops = &group_closure_ops<closure_type>::table;
    ::new (static_cast<void *>(t->storage)) closure_type(std::move(closure));
    enter(w, t);
    make_ready_private(w, t);
}

template <class C> void group_core::spawn_with(task *slot, C &&closure) noexcept {
    using closure_type = std::remove_cvref_t<C>;
    slot->ops = &group_closure_ops<closure_type>::table;
    ::new (static_cast<void *>(slot->storage)) closure_type(std::move(closure));
    enter(current_worker(), slot);
    make_ready_slow(slot);
}

} // namespace fult::detail
