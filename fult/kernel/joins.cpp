// The end of a task, and the waits for it (tests/model/completion.pml).
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>

#include <fult/detail/assertion.hpp>
#include <fult/detail/completion.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/handle.hpp>

#include "fult/base/check.hpp"
#include "fult/base/symbols.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"
#include "locals.hpp"

namespace fult::detail {
namespace {

const char *name_of(const task *t) noexcept {
    return t->extras && !t->extras->name.empty() ? t->extras->name.c_str() : "unnamed";
}

// Drops the result of a task that is never joined. An exception that left it has no receiver and ends the
// program.
void drop(task *t) noexcept {
    if (t->result == result_kind::exception) {
        const char *text = "an exception other than a std::exception";
        try {
            std::rethrow_exception(storage_as<std::exception_ptr>(*t));
        } catch (const std::exception &error) {
            fatal("task", "detached task '%s' ended with an exception: %s; join it, or catch what it throws",
                  name_of(t), error.what());
        } catch (...) {
            fatal("task", "detached task '%s' ended with %s; join it, or catch what it throws", name_of(t),
                  text);
        }
    }
    worker *w = this_worker();
    const bool ended_here = w && !w->current; // otherwise the caller detaches an ended task
    if (ended_here)
        run_as(w, t); // the destructor of the result may do what a task does
    t->ops->drop(*t);
    if (ended_here) {
        if (t->extras) [[unlikely]]
            end_locals(*t->extras); // values that that destructor has set
        run_as(current_worker(), nullptr);
    }
    release_joined(t);
}

bool is_completed(const task *t) noexcept {
    return t->join.load(std::memory_order_acquire) == join_done; // pairs with the exchange in complete
}

// Runs a claimed, unstarted task on the caller's stack. Its result stays in the descriptor.
void run_inline(worker *w, task *t) noexcept {
    FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy && !t->context, "a claimed, unstarted task");
    FULT_ASSERT(!t->pinned, "a pinned task has a stack of its own");
    {
        run_above<slot_after::kept> run(w, t);
        t->ops->run(*t);
        if (t->extras) [[unlikely]] {
            end_locals(*t->extras);
            drop_cached_locals(current_worker());
        }
    }
    t->join.store(join_done, std::memory_order_release); // the caller is the joiner
}

// True if the caller may run a task of `home` on its own stack: there is room, and the task is not of another
// worker while stealing is disabled. Inlined: it reads the stack pointer of the caller, whose own check has
// ended the row where this one fails. In a frame of its own it would fail first, by a few bytes: then the
// joiner would suspend, and begin a new row without the decisions of an end.
FULT_ALWAYS_INLINE bool may_run_inline(const worker *w, const worker *home) noexcept {
    return !is_stack_low(w) && (home == w || !w->team.stealing_disabled);
}

// True if the caller may run a claimed task on its own stack: the task is unstarted and needs no stack of its
// own. Checked after the claim: before it, the task may run on another worker and change its extras.
bool is_startable_inline(const task *t) noexcept {
    return !t->context && !(t->extras && t->extras->stack_size != 0);
}

// Tries to run an unstarted child on the caller's stack. Returns true if it has ended.
bool try_run_inline(worker *w, task *t) noexcept {
    if (is_stack_low(w)) [[unlikely]] {
        w->end_row();
        w = this_worker();
    }
    if (claim_private(w, t)) {
        run_inline(w, t);
        return true;
    }
    auto *home = static_cast<worker *>(home_of(t));
    const std::uint32_t slot = slot_of(t);
    const public_words words = home->tasks.runnable();
    // tested first, without a claim: a started child is left to the schedulers
    if (t->pinned || !words.contains(slot) || !may_run_inline(w, home) ||
        words.take(slot >> 6, bit_of(slot)) == 0)
        return false;
    if (claim(*t, home == w) != claim_result::ours)
        return false;
    if (is_startable_inline(t)) {
        run_inline(w, t);
        return true;
    }
    home->tasks.make_claimable(t, false); // started in the meantime: back to the schedulers
    w->team.wake_for(*home, false);
    return false;
}

// Makes `joiner` the one that is notified of the end. False: t has ended.
bool set_joiner(task *t, join_word joiner, const char *call) noexcept {
    join_word seen = join_none;
    if (t->join.compare_exchange_strong(seen, joiner, std::memory_order_acq_rel, // pairs with complete
                                        std::memory_order_acquire))
        return true;
    if (seen != join_done)
        misuse(call, "another task or thread joins this task already");
    return false;
}

join_word word_of(const completion *ends) noexcept { return join_word::of(join_tag::completion, ends); }

} // namespace

void complete(task *t) noexcept {
    FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy && !t->context,
                "a task that ends is running");
    const join_word waiter =
        t->join.exchange(join_done, std::memory_order_acq_rel); // pairs with await_completion
    // From here on t belongs to its present or future joiner.
    if (waiter == join_none)
        return;
    if (waiter == join_detached)
        return drop(t);
    switch (waiter.tag()) {
    case join_tag::completion:
        waiter.as<completion>(join_tag::completion)->end_one();
        break;
    case join_tag::group:
        FULT_ASSERT(t->result == result_kind::none, "a group's task has no result");
        release_joined(t);
        waiter.as<completion>(join_tag::group)->end_one();
        break;
    case join_tag::task:
    case join_tag::pinned_task:
        // a stale id causes a spurious wake-up: the address is never dereferenced
        post_signal(waiter.joiner());
        break;
    case join_tag::thread:
        FULT_ASSERT(false, "a thread waits on a completion");
    }
}

namespace {

void await_each(task *const *tasks, std::size_t count, const char *call) noexcept {
    bool open = false;
    for (std::size_t i = 0; i < count; ++i) {
        worker *const w = this_worker(); // a task that ran inline may have suspended
        open |= !is_completed(tasks[i]) && !(w && try_run_inline(w, tasks[i]));
    }
    if (!open)
        return;
    completion ends(static_cast<std::int64_t>(count));
    std::int64_t ended = 0;
    for (std::size_t i = 0; i < count; ++i)
        ended += !set_joiner(tasks[i], word_of(&ends), call);
    const waiting_for what{call, tasks[0]};
    ends.wait(what, -ended);
}

} // namespace

void await_all(task *const *tasks, std::size_t count) noexcept { await_each(tasks, count, "join_all"); }

void await_completion(task *t) noexcept {
    worker *const w = this_worker();
    if (!w)
        return await_each(&t, 1, "join");
    task *const self = w->current;
    if (t == self)
        misuse("join", "a task joins itself");
    if (is_completed(t) || try_run_inline(w, t) || !set_joiner(t, join_word::of(to_id(self)), "join"))
        return;
    const waiting_for end{"join", t};
    suspend_while(end, [t] { return !is_completed(t); });
}

namespace {

// Withdraws the wait from the first `count` tasks. Returns how many have not ended: the others end one.
std::int64_t withdraw(task *const *tasks, std::size_t count, const completion &ends) noexcept {
    std::int64_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        join_word mine = word_of(&ends);
        left +=
            tasks[i] && tasks[i]->join.compare_exchange_strong(mine, join_none, std::memory_order_acq_rel,
                                                               std::memory_order_acquire); // with complete
    }
    return left;
}

// `count` if none has ended.
std::size_t first_completed(task *const *tasks, std::size_t count) noexcept {
    const auto first = std::find_if(tasks, tasks + count, [](const task *t) { return t && is_completed(t); });
    return static_cast<std::size_t>(first - tasks);
}

bool is_joined_by(const task *t, const completion &ends) noexcept {
    return t->join.load(std::memory_order_relaxed) == word_of(&ends);
}

} // namespace

// One end is outstanding: of a task, or by the request to stop. Further ones make it negative, until the
// second wait counts them.
std::size_t await_any(task *const *tasks, std::size_t count, const std::stop_token *stop) {
    if (const std::size_t first = first_completed(tasks, count); first != count)
        return first;
    completion ends(1);
    std::atomic<bool> stopped{false};
    const auto end_by_stop = [&] {
        stopped.store(true, std::memory_order_relaxed);
        ends.end_one();
    };
    std::optional<std::stop_callback<decltype(end_by_stop)>> on_stop; // constructed first: it may throw
    if (stop)
        on_stop.emplace(*stop, end_by_stop);
    std::size_t asked = 0;
    std::int64_t ended = 0; // or will end one
    for (; asked < count; ++asked) {
        if (!tasks[asked] || is_joined_by(tasks[asked], ends)) // the same handle may be there twice
            continue;
        if (!set_joiner(tasks[asked], word_of(&ends), "wait_any"))
            break;
        ++ended;
    }
    const waiting_for what{"wait_any", count != 0 ? tasks[0] : nullptr};
    if (asked == count && ended != 0)
        ends.wait(what);
    ended -= withdraw(tasks, asked, ends);
    on_stop.reset(); // after the call, if it is running
    ended += stopped.load(std::memory_order_relaxed);
    ends.wait(what, ended - 1); // until no task uses the completion
    return first_completed(tasks, count);
}

void detach_task(task *t) noexcept {
    const join_word before =
        t->join.exchange(join_detached, std::memory_order_acq_rel); // pairs with complete
    if (before == join_done)
        drop(t);
    else if (before != join_none)
        misuse("detach", "a task or thread joins this task already");
}

namespace {
FULT_COLD void report_abandoned(const task *t, const void *destroyed_at) noexcept {
    auto *home = static_cast<worker *>(home_of(t));
    char name[64] = "", place[256] = "";
    home->extras_lock().lock();
    std::snprintf(name, sizeof name, "%s", name_of(t));
    home->extras_lock().unlock();
    symbols().print(destroyed_at, place, sizeof place, true);
    char number[16] = "outside";
    if (home->has_thread())
        std::snprintf(number, sizeof number, "%u", home->index);
    warn("task %s:%u '%s' is detached: its handle is destroyed unjoined at %s", number, slot_of(t), name,
         place);
}
} // namespace

// Not inlined: the return address is in the function that destroys the handle.
FULT_NOINLINE void abandon_task(task *t) noexcept {
    if (static_cast<worker *>(home_of(t))->team.opts.report_detached) [[unlikely]]
        report_abandoned(t, __builtin_return_address(0));
    detach_task(t);
}

bool is_done(const task *t) noexcept { return is_completed(t); }
task_id id_of(const task *t) noexcept { return to_id(t); }

// Slots -------------------------------------------------------------------------------------------------------------------------

void release_joined(task *t) noexcept {
    const team_visit visit(this_worker()); // the slot is freed before its hints are set
    FULT_ASSERT(t->result == result_kind::none, "the result was taken or dropped");
    FULT_ASSERT(!t->context, "its stack is free");
    if (t->extras) [[unlikely]]
        static_cast<worker *>(home_of(t))->set_extras(t, nullptr);
    t->pinned = false;
    t->join.store(join_none, std::memory_order_relaxed); // ordered by the free bit
    worker_hot *w = current_worker();
    // A thief ran the task, and its private bit is still set: clear it before the slot is used again.
    if (home_of(t) == w && (w->request_flags.load(std::memory_order_relaxed) & revoked)) [[unlikely]]
        static_cast<worker *>(w)->tasks.reconcile(0);
    release_slot(w, t);
}

void release_slot_slow(worker_hot *w, task *t) noexcept {
    FULT_ASSERT(t->join.load(std::memory_order_relaxed) == join_none && !t->extras, "a free slot is as new");
    __builtin_prefetch(t + ahead, 1); // for tasks joined in the order of spawning
    worker_hot *const home = home_of(t);
    if (home == w && slot_of(t) < half_slots) [[likely]] {
        count_in_row(w);
        static_cast<worker *>(w)->slots.release_own(t);
    } else
        public_words(home, returned_offsets).set_slot(slot_of(t)); // pairs with slot_allocator::drain
}

} // namespace fult::detail
