// Waiting for a group and stopping it.
#include <algorithm>
#include <exception>
#include <mutex>

#include <fult/detail/assertion.hpp>
#include <fult/detail/group.hpp>
#include <fult/detail/misuse.hpp>

#include "fult/memory/home_memory.hpp"
#include "fult/outside/thread_waits.hpp"
#include "fult/scheduler/parker.hpp"
#include "fult/scheduler/slot_place.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {
namespace {

// Hides the caller's exceptions in flight from tasks that a wait runs inline: they belong to another task.
class without_exceptions {
  public:
    explicit without_exceptions(const worker &here) noexcept : kept_(here.exceptions()) {
        if (any()) [[unlikely]]
            here.exceptions() = {nullptr, 0};
    }
    ~without_exceptions() {
        if (any()) [[unlikely]]
            this_worker()->exceptions() = kept_; // possibly another worker
    }
    without_exceptions(const without_exceptions &) = delete;
    without_exceptions &operator=(const without_exceptions &) = delete;

  private:
    bool any() const noexcept { return kept_.caught != nullptr || kept_.uncaught != 0; }
    const exceptions_in_flight kept_;
};

// No task is ever in such a slot.
bool is_first_of_word(const task *t) noexcept { return (bit_of(slot_of(t)) & ~usable_slots) != 0; }

// Counts inline runs as a spawn counts itself, but many at a time. Returns false if the caller must
// stop: the stack is low, or the task now runs on another worker.
bool count_runs(worker *w, std::uintptr_t runs) noexcept {
    w->stack_limit += runs * row_step;
    if (!stack_below(w->stack_limit)) [[likely]]
        return true;
    w->end_row();
    return this_worker() == w && !stack_below(w->stack_limit);
}

} // namespace

// Waiting ---------------------------------------------------------------------------------------------------------------------

// Runs t if it is an unstarted task of this group that is private to this worker.
FULT_ALWAYS_INLINE group_core::run_end group_core::run_here(worker_hot *w, task *self, task *t) noexcept {
    FULT_ASSERT(home_of(t) == w && w->current == self);
    ready_byte *const mine = ready_byte_at(w, distance_in_slots(w, t));
    if (!is_set(*mine))
        return run_end::not_run;
    mine->store(0, std::memory_order_relaxed);
    owner_barrier();
    if (is_set(w->request_flags) && !poll_requests_after_claim(w, t)) [[unlikely]]
        return run_end::not_run;
    // a task of another group: checked after the claim, as no other thread writes `outer` then
    if (t->outer != mark()) [[unlikely]] {
        make_ready_slow(t);
        return run_end::not_run;
    }
    t->outer = outer_word::above(self);
    run_as(w, t);
    static_cast<const group_task_ops *>(t->ops)->here(*t);
    if (t->outer != outer_word::above(self)) [[unlikely]]
        end_inline_slow(t);
    const worker_hot *const before = std::exchange(w, current_worker());
    run_as(w, self);
    release_slot(w, t);
    return w == before ? run_end::same_worker : run_end::other_worker;
}

// Runs what tasks of the group have spawned above t, the newest first. Adds their number to `found`.
FULT_NOINLINE group_core::run_end group_core::run_above(worker_hot *w, task *self, const task *t,
                                                        std::int64_t &found) noexcept {
    constexpr std::int64_t most_found = 1000;
    run_end where = run_end::same_worker;
    while (where == run_end::same_worker && w->run.next - 1 > t && found < most_found) {
        where = run_here(w, self, w->run.next - 1);
        if (where != run_end::not_run)
            ++found;
    }
    return where;
}

// Walks downwards from the highest slot that the owner spawned in. Before each step it runs what that slot's
// tasks have spawned above it. All other tasks are left to the schedulers, and so is the rest after a long
// time, since other tasks need turns.
void group_core::run_own() noexcept {
    worker *const here = this_worker();
    task *t = std::exchange(highest_, nullptr);
    if (!here || !t || home_of(t) != here || !count_runs(here, 1) || !here->run.next)
        return; // the last condition: no task is private here (hidden_run_)
    const without_exceptions meanwhile(*here);
    task *const self = here->current;
    std::int64_t left = uncounted(), found = 0;
    FULT_ASSERT(self == owner_, "only the owner runs its tasks inline");
    // Slots of other tasks may lie in between. The walk does not leave the half of t: the end of the lower
    // half may have no memory. (t is in the upper half if the owner spawned on this worker before it moved
    // here.)
    const std::ptrdiff_t span = std::min<std::ptrdiff_t>(slot_of(t) % half_slots, 2 * left + 1000);
    for (const task *const lowest = t - span; left > 0 && t >= lowest; --t) {
        run_end where = run_here(here, self, t);
        if (where != run_end::not_run)
            --left;
        else if (is_first_of_word(t) && !count_runs(here, slots_in_word))
            break;
        if (where != run_end::other_worker && here->run.next - 1 > t)
            where = run_above(here, self, t, found);
        if (where == run_end::other_worker)
            break;
    }
    own_.store(counted_ + left - found, std::memory_order_relaxed); // fewer: of the tasks counted by others
}

group_core::group_core() noexcept : owner_(current_worker()->current), in_flight_(in_flight()) {}

// std::uncaught_exceptions without the calls through two libraries.
int group_core::in_flight() noexcept {
    const worker *const w = this_worker();
    return w ? static_cast<int>(w->exceptions().uncaught) : std::uncaught_exceptions();
}

std::int64_t group_core::take_uncounted() noexcept {
    const std::int64_t more = uncounted();
    counted_ += more;
    return more;
}

// If the count is zero, all tasks that it includes have ended, and what they spawned is visible. If there are
// no uncounted tasks either, all tasks have ended: each was spawned before the wait or by a task of the
// group.
void group_core::wait_until_empty() noexcept {
    if (worker *w = this_worker(); w && is_owned_by(w) && uncounted() > 0)
        run_own();
    if (uncounted() != 0 || word_.load(std::memory_order_acquire) != 0) // pairs with count_down
        wait_for_count();
}

void group_core::wait_for_count() noexcept {
    worker *const w = this_worker();
    parker until;
    do {
        const std::int64_t own = one * take_uncounted();
        std::int64_t open = 0, seen = word_.load(std::memory_order_acquire); // pairs with count_down
        if (own == 0 && seen == 0)
            return;
        const std::uint32_t prepared = until.prepare();
        waiter_.store(w ? join_word::of(to_id(this_worker()->current))
                        : join_word::of(join_tag::parker, &until),
                      std::memory_order_relaxed);
        do {
            if ((seen & waiting) != 0)
                misuse("task_group::wait", "another task or thread waits for this group already");
            open = seen + own;
        } while (!word_.compare_exchange_weak(seen, open > 0 ? open + waiting : open,
                                              std::memory_order_acq_rel, // pairs with count_down
                                              std::memory_order_acquire));
        if (w) {
            const slot_place place(*this_worker());
            while ((word_.load(std::memory_order_acquire) & waiting) != 0) // pairs with count_down
                suspend_until_signaled(false);
            place.resume();
        } else if (open > 0) {
            // waits for the post: the thread that counts down uses the parker until then
            wait_for_post(until, prepared);
        }
    } while (uncounted() != 0);
}

// One step, because the group may be destroyed after it, and because another task may count down at the same
// time while some are not counted yet.
void group_core::count_down() noexcept {
    std::int64_t seen = word_.load(std::memory_order_acquire); // pairs with wait_until_empty, for the waiter
    join_word who;
    bool last = false;
    do {
        who = waiter_.load(std::memory_order_relaxed);
        last = seen == one + waiting;
    } while (!word_.compare_exchange_weak(seen, last ? 0 : seen - one,
                                          std::memory_order_acq_rel, // pairs with wait_until_empty
                                          std::memory_order_acquire));
    if (!last)
        return;
    FULT_ASSERT(who.is_waiter(), "the bit `waiting` is set after the waiter");
    if (who.tag() == join_tag::parker)
        who.as<parker>(join_tag::parker)->post();
    else
        post_signal(who.joiner()); // a stale id causes a spurious wake-up
}

// Stopping --------------------------------------------------------------------------------------------------------------------

void group_core::request_stop() noexcept {
    if (stopped_.exchange(true, std::memory_order_seq_cst))
        return;
    std::stop_source source = [this] {
        const std::lock_guard guard(source_lock_);
        return source_; // a source created later is stopped by its creator
    }();
    source.request_stop();
}

std::stop_token group_core::token() {
    const std::lock_guard guard(source_lock_);
    if (!source_.stop_possible()) {
        source_ = std::stop_source();
        if (is_stopped())
            source_.request_stop(); // no callback is registered yet
    }
    return source_.get_token();
}

bool group_core::fail_first() noexcept { return !failed_.exchange(true, std::memory_order_relaxed); }

void group_core::fail() noexcept {
    if (fail_first())
        error_ = std::current_exception(); // published by the decrement of this task
    request_stop();
}

void group_core::fail_with(void *what) noexcept {
    if (fail_first())
        failure_ = what;
    request_stop();
}

void group_core::reset() noexcept {
    failed_.store(false, std::memory_order_relaxed);
    if (!is_stopped())
        return;
    const std::lock_guard guard(source_lock_);
    source_ = std::stop_source(std::nostopstate);
    stopped_.store(false, std::memory_order_seq_cst);
}

} // namespace fult::detail
