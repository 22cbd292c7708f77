#include "child_counter.hpp"

#include <fult/detail/assertion.hpp>
#include <fult/detail/tied.hpp>
#include <fult/detail/wait_record.hpp>
#include <fult/this_task.hpp>

#include "late_tasks.hpp"
#include "omp_task.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

bool is_over(wait_mode awaited, std::int64_t outstanding) noexcept {
    return (awaited == wait_mode::for_bodies ? bodies_in(outstanding) : trees_in(outstanding)) == 0;
}

// The end that reaches zero. `notified` is its last access: the owner may leave, and the counter with it.
void notify(child_counter &s) noexcept {
    const auto waiter = task_id::from_value(s.waiter.load(std::memory_order_relaxed));
    [[maybe_unused]] const notice before =
        s.notified.exchange(notice::last_end, std::memory_order_acq_rel); // pairs with wait
    FULT_ASSERT(before != notice::last_end, "one end reaches zero");
    if (waiter)
        detail::post_signal(waiter);
    else
        s.notified.notify_one();
}

void suspend_until_notified(const child_counter &s) {
    const bool for_bodies = s.mode.load(std::memory_order_relaxed) == wait_mode::for_bodies;
    static constexpr detail::waiting_for taskwait{"OpenMP taskwait"}, descendants{"OpenMP tasks of this one"};
    const detail::wait_record record(detail::running_task(), for_bodies ? taskwait : descendants);
    this_task::wait([&s] { // pairs with notify
        return s.notified.load(std::memory_order_acquire) != notice::nothing;
    });
}

} // namespace

void child_counter::await_notice() {
    if (waiter.load(std::memory_order_relaxed) != 0)
        suspend_until_notified(*this);
    else
        notified.wait(notice::nothing, std::memory_order_acquire); // pairs with notify
    notice seen = notice::late_task;
    notified.compare_exchange_strong(seen, notice::nothing, std::memory_order_acq_rel); // announce_late_task
}

void child_counter::announce_late_task() noexcept {
    notice seen = notice::nothing;
    if (!notified.compare_exchange_strong(seen, notice::late_task, std::memory_order_acq_rel)) // await_notice
        return;
    if (const std::uint64_t id = waiter.load(std::memory_order_relaxed); id != 0)
        detail::post_signal(task_id::from_value(id));
    else
        notified.notify_one();
}

namespace {
void await_all_ends(child_counter &s) {
    if (team &t = *s.owner->in(); t.is_serial)
        t.late.run_until_notified(s);
    else
        s.await_notice();
    FULT_ASSERT(s.all_ended());
}
} // namespace

void child_counter::wait(wait_mode awaited) {
    FULT_ASSERT(awaited == wait_mode::for_bodies || awaited == wait_mode::for_trees);
    FULT_ASSERT(is_here(owner->at) && mode.load(std::memory_order_relaxed) == wait_mode::counting,
                "the owner waits, for one thing at a time");
    if (is_over(awaited, outstanding()))
        return;
    run_own_children(owner);
    std::int64_t open = outstanding();
    if (is_over(awaited, open))
        return;
    waiter.store(detail::running_task() ? this_task::id().value() : 0, std::memory_order_relaxed);
    notified.store(notice::nothing, std::memory_order_relaxed);
    mode.store(awaited, std::memory_order_relaxed);
    const std::int64_t mine = std::exchange(live, 0);
    // pairs with count_end, both ways
    const std::int64_t ended = elsewhere.fetch_add(units_of(awaited) - mine, std::memory_order_acq_rel);
    open = mine - ended;
    FULT_ASSERT(mode_of(ended) == wait_mode::counting && is_count(open));
    if (!is_over(awaited, open))
        await_all_ends(*this);
    mode.store(wait_mode::counting, std::memory_order_relaxed);
    live = units_of(awaited) - elsewhere.exchange(0, std::memory_order_acq_rel); // pairs with count_end
    FULT_ASSERT(is_count(live) && is_over(awaited, live), "the last end has been counted");
}

namespace {

// Returns the zombie whose last descendant has ended by this, or null.
omp_task *count_one_end(child_counter &s, std::int64_t n) noexcept {
    FULT_ASSERT(n == one_body || n == one_tree || n == one_task || n == -one_task,
                "the end of one, or a placeholder");
    const std::int64_t before = s.elsewhere.fetch_add(n, std::memory_order_acq_rel); // pairs with wait
    const wait_mode mode = mode_of(before);
    if (mode == wait_mode::counting)
        return nullptr;
    const std::int64_t left = units_of(mode) - before - n;
    FULT_ASSERT(is_count(left), "no child ends twice");
    const std::int64_t counted = mode == wait_mode::for_bodies ? bodies_in(n) : trees_in(n);
    if (counted == 0 || !is_over(mode, left))
        return nullptr;
    if (mode == wait_mode::zombie) {
        FULT_ASSERT(&s == &s.owner->base, "a task ends after its taskgroups");
        return s.owner;
    }
    notify(s);
    return nullptr;
}

} // namespace

// A loop, not a recursion: each task of a long chain may have generated the next one and ended.
void count_end_elsewhere(child_counter &s, std::int64_t n, const thread_state *at) noexcept {
    omp_task *ended = count_one_end(s, n);
    while (ended) {
        FULT_ASSERT(ended->counted_in && !ended->has(is_implicit),
                    "an implicit task waits for its descendants");
        child_counter &above = *ended->counted_in;
        free_task(ended, this_thread());
        if (at && at == above.at && above.mode.load(std::memory_order_relaxed) == wait_mode::counting) {
            above.live -= one_tree;
            return;
        }
        ended = count_one_end(above, one_tree);
    }
}

} // namespace fult::omp
