// What a task_group is made of: spawn without atomics by the task that owns it, one counter for all others.
//
// A group's task has no handle: nobody joins it. The owner's wait takes back those that nobody else wanted
// and runs them in place, as a join does; each of the rest counts the group down when it ends, and the last
// one signals who waits (tests/model/group.pml).
#pragma once

#include <cstdint>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <fult/detail/fast_path.hpp>

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
    void fail() noexcept;                // in a handler: this exception left a task
    void fail_with(void *what) noexcept; // the same in C
    void count_down() noexcept;          // a task of the group has ended

    // From any thread ---------------------------------------------------------------------------------------
    void request_stop() noexcept;
    std::stop_token token(); // throws std::bad_alloc

    // From who waits ----------------------------------------------------------------------------------------
    void wait_until_empty() noexcept;
    bool is_left_by_exception() const noexcept { return in_flight() > in_flight_; }
    std::exception_ptr take_error() noexcept { return std::exchange(error_, nullptr); }
    void *take_failure() noexcept { return std::exchange(failure_, nullptr); }
    void begin_anew() noexcept; // not stopped, nothing failed

  private:
    static constexpr std::int64_t one = 2, waiting = 1;

    FULT_ALWAYS_INLINE void enter(worker_hot *w, task *t) noexcept;
    bool is_owned_by(const worker_hot *w) const noexcept { return owner_ && w->current == owner_; }
    std::int64_t uncounted() const noexcept { return own_.load(std::memory_order_relaxed) - counted_; }
    std::int64_t take_uncounted() noexcept;
    bool fail_first() noexcept;
    static int in_flight() noexcept; // exceptions
    void run_own() noexcept;
    enum class place { nowhere, here, elsewhere }; // where a task ended that was to run here
    place run_here(worker_hot *w, task *self, task *t) noexcept;
    task *mark() const noexcept { // in task::outer until the task begins
        return reinterpret_cast<task *>(reinterpret_cast<std::uintptr_t>(this) | 1);
    }

    // The owner is the task in the slot of the one that made the group; null where a foreign thread did. The
    // group may outlive its maker, whose slot then another task has: that one is the owner, too, and the only
    // one, since tasks of a slot follow each other. What must not be concluded from it is that the task that
    // waits, if it is another one, has seen all that owners spawn: one may be a task of the group, and run.
    task *const owner_;
    const int in_flight_;                   // when it was made
    task *highest_ = nullptr;               // the owner's: the highest slot that it spawned in,
    std::atomic<std::int64_t> own_{0};      // and how many it spawned that it has not run itself;
    std::int64_t counted_ = 0;              // the waiter's: as many of them are in word_
    std::atomic<std::uintptr_t> waiter_{0}; // a task, or a tagged parker; set before the bit `waiting`
    std::atomic<std::int64_t> word_{0}; // twice what is open of the others' and ended of the owner's; waiting
    std::atomic<bool> stopped_{false};
    std::atomic<bool> failed_{false}; // who sets it writes one of the next two
    std::exception_ptr error_;
    void *failure_ = nullptr;
    std::atomic<bool> source_lock_{false};
    std::stop_source source_{std::nostopstate}; // made when somebody wants a token
};

// A callable of a group with its arguments. Where stop was requested before it begins, it is not called.
template <class F, class... A> struct group_call {
    group_core *group;
    [[no_unique_address]] F function;
    [[no_unique_address]] std::tuple<A...> arguments;

    void operator()() &&noexcept {
        if (group->is_stopped()) [[unlikely]]
            return;
        try {
            std::apply(
                [this](A &...each) {
                    if constexpr (std::is_invocable_v<F, std::stop_token, A...>)
                        (void)std::invoke(std::move(function), group->token(), std::move(each)...);
                    else
                        (void)std::invoke(std::move(function), std::move(each)...);
                },
                arguments);
        } catch (...) {
            group->fail();
        }
    }
};

// What a group's task carries instead of closure_ops. `here`: run and end it on the caller's stack.
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
    // On a stack of a scheduler. Nobody else touches the join word, so what `complete` finds in it is ours.
    static void run(task &t) noexcept {
        group_core *group = group_of(storage_as<C>(t));
        here(t);
        t.join.store(reinterpret_cast<std::uintptr_t>(group) | join_group_tag, std::memory_order_relaxed);
    }
    static void drop(task &) noexcept {} // there is no outcome

    static constexpr group_task_ops table{{&run, &drop}, &here};
};

// The task is the group's from here on: before anybody can run it.
FULT_ALWAYS_INLINE void group_core::enter(worker_hot *w, task *t) noexcept {
    t->outer = mark();
    if (is_owned_by(w)) {
        increment_own(own_);
        if (t > highest_)
            highest_ = t;
    } else {
        word_.fetch_add(one, std::memory_order_relaxed); // below the spawner's own count, if it is a member
    }
}

template <class C> FULT_ALWAYS_INLINE void group_core::spawn(C &&closure) {
    using closure_type = std::remove_cvref_t<C>;
    worker_hot *w = current_worker();
    task *t = w->run.next;
    if (t == w->run.end) [[unlikely]] {
        spawn_with(take_slot_slow(), std::move(closure));
        return;
    }
    w->run.next = t + 1;
    __builtin_prefetch(t + ahead, 1);
    t->ops = &group_closure_ops<closure_type>::table;
    ::new (static_cast<void *>(t->storage)) closure_type(std::move(closure));
    enter(w, t);
    // release: a thief that reads the byte (revoke) must see the closure
    ready_byte_at(w, distance_in_slots(w, t))->store(1, std::memory_order_release);
    owner_barrier();
    if (is_set(w->attention)) [[unlikely]]
        attend(w);
}

template <class C> void group_core::spawn_with(task *slot, C &&closure) noexcept {
    using closure_type = std::remove_cvref_t<C>;
    slot->ops = &group_closure_ops<closure_type>::table;
    ::new (static_cast<void *>(slot->storage)) closure_type(std::move(closure));
    enter(current_worker(), slot);
    make_ready_slow(slot);
}

} // namespace fult::detail
