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
    mine->store(0, std::memory_order_relaxed); // as claim_private
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
        end_inline_locals(t);
    const worker_hot *const before = std::exchange(w, current_worker());
    run_as(w, self);
    release_slot(w, t);
    return w == before ? place::here : place::elsewhere;
}

// Downwards from the highest slot that the owner spawned in; and before each further step what lies above it:
// what its tasks have spawned. Whatever is passed by is left to the schedulers, and so is what goes on for
// long: other tasks want their turn too.
void group_core::run_own() noexcept {
    worker *const here = this_worker();
    task *t = std::exchange(highest_, nullptr);
    if (!here || !t || home_of(t) != here || stack_below(here->stack_limit) || !here->run.next)
        return; // the last: no task is private here (hidden_run_)
    const without_exceptions meanwhile(*here);
    task *const self = here->current;
    std::int64_t left = own_, found = 0;
    constexpr std::int64_t most_found = 1000; // above: what its tasks have spawned
    // Slots of others may lie between.
    const std::ptrdiff_t span = std::min<std::ptrdiff_t>(t - tasks_of(here), 2 * left + 1000);
    for (const task *const lowest = t - span; left > 0 && t >= lowest; --t) {
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
    own_ = left - found; // negative: of what others have counted
}

group_core::group_core() noexcept : owner_(current_worker()->current), in_flight_(in_flight()) {}

// std::uncaught_exceptions without the way through two libraries.
int group_core::in_flight() noexcept {
    const worker *const w = this_worker();
    return w ? static_cast<int>(w->exceptions().uncaught) : std::uncaught_exceptions();
}

void group_core::wait_until_empty() noexcept {
    if (own_ > 0)
        run_own();
    const std::int64_t own = one * std::exchange(own_, 0);
    if (own == 0 && word_.load(std::memory_order_acquire) == 0) // pairs with count_down
        return;
    worker *const w = this_worker();
    parker until;
    const std::uint32_t prepared = until.prepare();
    waiter_ = w ? to_id(w->current).value() : reinterpret_cast<std::uintptr_t>(&until) | join_parker_tag;
    const std::int64_t open =
        word_.fetch_add(own + waiting, std::memory_order_acq_rel) + own; // with count_down
    if ((open & waiting) != 0)
        misuse("task_group::wait", "another task or thread waits for this group already");
    if (open == 0) {
        word_.store(0, std::memory_order_relaxed);
        return;
    }
    if (!w)
        return until.wait(prepared); // for the post: until then who counts down uses the parker
    while (word_.load(std::memory_order_acquire) != 0) // pairs with count_down
        suspend_until_signaled(false);
}

void group_core::count_down() noexcept {
    if (word_.fetch_sub(one, std::memory_order_acq_rel) != one + waiting) // pairs with wait_until_empty
        return;
    const std::uintptr_t who = waiter_;
    word_.store(0, std::memory_order_release); // pairs with wait_until_empty; then the group may be gone
    if ((who & join_tag_mask) == join_parker_tag)
        reinterpret_cast<parker *>(who & ~std::uintptr_t{join_tag_mask})->post();
    else
        signal(task_id::from_value(who));
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
