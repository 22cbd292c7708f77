// Waiting for a group and stopping it.
#include <algorithm>
#include <exception>
#include <mutex>

#include <fult/detail/assertion.hpp>
#include <fult/detail/group.hpp>

#include "fult/memory/home_memory.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {
namespace {

// Hides the caller's exceptions in flight from tasks that a wait runs inline: they belong to another task.
class exceptions_guard {
  public:
    explicit exceptions_guard(const worker &here) noexcept : kept_(here.exceptions()) {
        if (any()) [[unlikely]]
            here.exceptions() = {nullptr, 0};
    }
    ~exceptions_guard() {
        if (any()) [[unlikely]]
            this_worker()->exceptions() = kept_; // possibly another worker
    }
    exceptions_guard(const exceptions_guard &) = delete;
    exceptions_guard &operator=(const exceptions_guard &) = delete;

  private:
    bool any() const noexcept { return kept_.caught != nullptr || kept_.uncaught != 0; }
    const exceptions_in_flight kept_;
};

// No task is ever in such a slot.
bool is_first_of_word(const task *t) noexcept { return (bit_of(slot_of(t)) & ~usable_slots) != 0; }

// Counts inline runs as a spawn counts itself, but many at a time. Returns false if the caller must
// stop: the stack is low, or the task now runs on another worker.
bool count_runs(worker *w, std::uintptr_t runs) noexcept {
    count_in_row(w, runs);
    if (!is_stack_low(w)) [[likely]]
        return true;
    w->end_row();
    return this_worker() == w && !is_stack_low(w);
}

} // namespace

// Waiting ---------------------------------------------------------------------------------------------------------------------

// Runs t if it is an unstarted task of this group that is private to this worker.
FULT_ALWAYS_INLINE group_core::run_end group_core::run_one(worker_hot *w, task *t) noexcept {
    FULT_ASSERT(home_of(t) == w);
    const std::uintptr_t distance = distance_in_slots(w, t);
    if (!is_unstarted_private(w, distance) || !claim_unstarted(w, t, distance))
        return run_end::not_run;
    // a task of another group: checked after the claim, as no other thread writes `outer` then
    if (t->outer != mark()) [[unlikely]] {
        make_ready_slow(t);
        return run_end::not_run;
    }
    {
        run_above<slot_after::free> run(w, t);
        static_cast<const group_task_ops *>(t->ops)->here(*t);
    }
    return w == current_worker() ? run_end::same_worker : run_end::other_worker;
}

// Runs what tasks of the group have spawned in the slots above, the newest first. Adds their number to
// `found`.
FULT_NOINLINE group_core::run_end group_core::run_newest(worker_hot *w, const task *above,
                                                         std::int64_t &found) noexcept {
    constexpr std::int64_t max_found = 1000;
    run_end where = run_end::same_worker;
    while (where == run_end::same_worker && newest_slot(w) > above && found < max_found) {
        where = run_one(w, newest_slot(w));
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
    if (!here || !t || home_of(t) != here || !count_runs(here, 1) || !has_private_tasks(here))
        return;
    const exceptions_guard meanwhile(*here);
    std::int64_t left = uncounted(), found = 0;
    FULT_ASSERT(is_owned_by(here), "only the owner runs its tasks inline");
    // Slots of other tasks may lie in between. The walk does not leave the half of t: the end of the lower
    // half may have no memory. (t is in the upper half if the owner spawned on this worker before it moved
    // here.)
    const std::ptrdiff_t span = std::min<std::ptrdiff_t>(slot_of(t) % half_slots, 2 * left + 1000);
    for (const task *const lowest = t - span; left > 0 && t >= lowest; --t) {
        run_end where = run_one(here, t);
        if (where != run_end::not_run)
            --left;
        else if (is_first_of_word(t) && !count_runs(here, slots_in_word))
            break;
        if (where != run_end::other_worker && newest_slot(here) > t)
            where = run_newest(here, t, found);
        if (where == run_end::other_worker)
            break;
    }
    own_.store(counted_ + left - found, std::memory_order_relaxed); // fewer: of the tasks counted by others
}

group_core::group_core() noexcept : owner_(running_task()), in_flight_(in_flight()) {}

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

// If nothing is outstanding, all tasks that are counted have ended, and what they spawned is visible. If
// there are no uncounted tasks either, all tasks have ended: each was spawned before the wait or by a task of
// the group.
void group_core::wait_until_empty() noexcept {
    static constexpr waiting_for end{"task_group::wait"};
    if (worker *w = this_worker(); w && is_owned_by(w) && uncounted() > 0)
        run_own();
    while (!ends_.is_over() || uncounted() != 0) // in this order: the last end may have spawned as the owner
        ends_.wait(end, take_uncounted());
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
