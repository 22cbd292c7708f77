// Waiting for a group, and stopping it.
#include <algorithm>
#include <exception>

#include <fult/detail/group.hpp>
#include <fult/detail/misuse.hpp>

#include "parker.hpp"
#include "suspend.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// While a wait runs tasks in place, they must not see the exceptions that its caller handles: these belong to
// another task.
class without_exceptions {
  public:
    explicit without_exceptions(const worker &here) noexcept : kept_(here.exceptions()) {
        if (any()) [[unlikely]]
            here.exceptions() = {nullptr, 0};
    }
    ~without_exceptions() {
        if (any()) [[unlikely]]
            this_worker()->exceptions() = kept_; // perhaps another one
    }
    without_exceptions(const without_exceptions &) = delete;
    without_exceptions &operator=(const without_exceptions &) = delete;

  private:
    bool any() const noexcept { return kept_.caught != nullptr || kept_.uncaught != 0; }
    const exceptions_in_flight kept_;
};

} // namespace

// Waiting ---------------------------------------------------------------------------------------------------------------------

// Runs t, if it is an unstarted task of this group that is private to this worker.
FULT_ALWAYS_INLINE group_core::place group_core::run_here(worker_hot *w, task *self, task *t) noexcept {
    ready_byte *const mine = ready_byte_at(w, distance_in_slots(w, t));
    if (!is_set(*mine))
        return place::nowhere;
    w->stack_limit += join_step; // as claim_private
    mine->store(0, std::memory_order_relaxed);
    owner_barrier();
    if (is_set(w->attention) && !attend_claim(w, t)) [[unlikely]]
        return place::nowhere;
    if (t->outer != mark()) [[unlikely]] { // somebody else's: claimed first, as only then nobody writes there
        make_ready_slow(t);
        return place::nowhere;
    }
    t->outer = self;
    run_as(w, t);
    static_cast<const group_task_ops *>(t->ops)->here(*t);
    if (t->outer != self) [[unlikely]]
        end_inline_slow(t);
    const worker_hot *const before = std::exchange(w, current_worker());
    run_as(w, self);
    release_slot(w, t);
    return w == before ? place::here : place::elsewhere;
}

// Downwards from the highest slot that the owner spawned in; and before each further step what lies above it:
// what its tasks have spawned. Whatever is passed by is left to the schedulers, and so is what goes on for
// long: other tasks want their turn too.
void group_core::run_own() noexcept {
    if (worker *w = this_worker(); w && stack_below(w->stack_limit))
        w->end_row();
    worker *const here = this_worker();
    task *t = std::exchange(highest_, nullptr);
    if (!here || !t || home_of(t) != here || stack_below(here->stack_limit) || !here->run.next)
        return; // the last: no task is private here (hidden_run_)
    const without_exceptions meanwhile(*here);
    task *const self = here->current;
    std::int64_t left = uncounted(), found = 0;
    constexpr std::int64_t most_found = 1000; // above: what its tasks have spawned
    // Slots of others may lie between. Not below the half that t is in: the end of the lower one may have no
    // memory. (It is in the upper one where the owner spawned on this worker before it came here.)
    const std::ptrdiff_t span = std::min<std::ptrdiff_t>(slot_of(t) % half_slots, 2 * left + 1000);
    for (const task *const lowest = t - span; left > 0 && t >= lowest; --t) {
        if (stack_below(here->stack_limit)) [[unlikely]] {
            here->end_row();
            if (this_worker() != here || stack_below(here->stack_limit))
                break;
        }
        place where = run_here(here, self, t);
        if (where != place::nowhere)
            --left;
        while (where != place::elsewhere && here->run.next - 1 > t && found < most_found) {
            where = run_here(here, self, here->run.next - 1);
            if (where == place::nowhere)
                break;
            ++found;
        }
        if (where == place::elsewhere)
            break;
    }
    own_.store(counted_ + left - found, std::memory_order_relaxed); // fewer: of what others have counted
}

group_core::group_core() noexcept : owner_(current_worker()->current), in_flight_(in_flight()) {}

// std::uncaught_exceptions without the way through two libraries.
int group_core::in_flight() noexcept {
    const worker *const w = this_worker();
    return w ? static_cast<int>(w->exceptions().uncaught) : std::uncaught_exceptions();
}

std::int64_t group_core::take_uncounted() noexcept {
    const std::int64_t more = uncounted();
    counted_ += more;
    return more;
}

// Where the count has come to nothing, all tasks that it knows have ended, and what these spawned is seen. If
// there is nothing among that which the count does not know yet, all have ended: each task was spawned before
// the wait, or by one of the group.
void group_core::wait_until_empty() noexcept {
    worker *const w = this_worker();
    if (w && is_owned_by(w) && uncounted() > 0)
        run_own();
    parker until;
    do {
        const std::int64_t own = one * take_uncounted();
        std::int64_t open = 0, seen = word_.load(std::memory_order_acquire); // pairs with count_down
        if (own == 0 && seen == 0)
            return;
        const std::uint32_t prepared = until.prepare();
        waiter_.store(w ? to_id(this_worker()->current).value()
                        : reinterpret_cast<std::uintptr_t>(&until) | join_parker_tag,
                      std::memory_order_relaxed);
        do {
            if ((seen & waiting) != 0)
                misuse("task_group::wait", "another task or thread waits for this group already");
            open = seen + own;
        } while (!word_.compare_exchange_weak(seen, open > 0 ? open + waiting : open,
                                              std::memory_order_acq_rel, // pairs with count_down
                                              std::memory_order_acquire));
        if (open > 0 && !w)
            until.wait(prepared); // for the post: until then who counts down uses the parker
        while ((word_.load(std::memory_order_acquire) & waiting) != 0) // pairs with count_down
            suspend_until_signaled(false);
    } while (uncounted() != 0);
}

// In one step, as the group may be gone after it: and another task may count down at the same time where some
// are not counted yet.
void group_core::count_down() noexcept {
    std::int64_t seen = word_.load(std::memory_order_acquire); // pairs with wait_until_empty, for the waiter
    std::uintptr_t who = 0;
    bool last = false;
    do {
        who = waiter_.load(std::memory_order_relaxed);
        last = seen == one + waiting;
    } while (!word_.compare_exchange_weak(seen, last ? 0 : seen - one,
                                          std::memory_order_acq_rel, // pairs with wait_until_empty
                                          std::memory_order_acquire));
    if (!last)
        return;
    if ((who & join_tag_mask) == join_parker_tag)
        reinterpret_cast<parker *>(who & ~std::uintptr_t{join_tag_mask})->post();
    else
        post_signal(task_id::from_value(who)); // a stale one is a spurious wake-up
}

// Stopping --------------------------------------------------------------------------------------------------------------------

namespace {
class source_guard {
  public:
    explicit source_guard(std::atomic<bool> &lock) noexcept : lock_(lock) {
        while (lock_.exchange(true, std::memory_order_acquire)) // pairs with the destructor
            cpu_relax();
    }
    ~source_guard() { lock_.store(false, std::memory_order_release); }
    source_guard(const source_guard &) = delete;
    source_guard &operator=(const source_guard &) = delete;

  private:
    std::atomic<bool> &lock_;
};
} // namespace

void group_core::request_stop() noexcept {
    if (stopped_.exchange(true, std::memory_order_seq_cst))
        return;
    std::stop_source told = [this] {
        const source_guard guard(source_lock_);
        return source_; // one that is made from here on is stopped by its maker
    }();
    told.request_stop();
}

std::stop_token group_core::token() {
    const source_guard guard(source_lock_);
    if (!source_.stop_possible()) {
        source_ = std::stop_source();
        if (is_stopped())
            source_.request_stop(); // nothing is registered there yet
    }
    return source_.get_token();
}

bool group_core::fail_first() noexcept { return !failed_.exchange(true, std::memory_order_relaxed); }

void group_core::fail() noexcept {
    if (fail_first())
        error_ = std::current_exception(); // the count of this task publishes it
    request_stop();
}

void group_core::fail_with(void *what) noexcept {
    if (fail_first())
        failure_ = what;
    request_stop();
}

void group_core::begin_anew() noexcept {
    failed_.store(false, std::memory_order_relaxed);
    if (!is_stopped())
        return;
    const source_guard guard(source_lock_);
    source_ = std::stop_source(std::nostopstate);
    stopped_.store(false, std::memory_order_seq_cst);
}

} // namespace fult::detail
