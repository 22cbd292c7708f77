#include "child_counter.hpp"

#include <fult/detail/assertion.hpp>

#include "late_tasks.hpp"
#include "omp_task.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "threads.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

bool is_over(wait_mode awaited, std::int64_t outstanding) noexcept {
    return (awaited == wait_mode::for_bodies ? bodies_in(outstanding) : trees_in(outstanding)) == 0;
}

// The end that reaches zero.
void notify(child_counter &s) noexcept {
    detail::completion *const waiter = s.waiter.load(std::memory_order_relaxed);
    const notice before =
        s.notified.exchange(notice::last_end, std::memory_order_acq_rel); // pairs with await_notice
    FULT_ASSERT(before != notice::last_end, "one end reaches zero");
    if (before == notice::nothing) // else the owner is called already
        waiter->end_one();
}

} // namespace

bool child_counter::await_notice() noexcept {
    static constexpr detail::waiting_for taskwait{"OpenMP taskwait"}, descendants{"OpenMP tasks of this one"};
    detail::completion &call = *waiter.load(std::memory_order_relaxed);
    await(call, mode.load(std::memory_order_relaxed) == wait_mode::for_bodies ? taskwait : descendants);
    call.add_one(); // before others can leave `nothing` again
    notice seen = notice::late_task;
    return !notified.compare_exchange_strong(seen, notice::nothing,
                                             std::memory_order_acq_rel); // pairs with both
}

void child_counter::announce_late_task() noexcept {
    notice seen = notice::nothing;
    if (notified.compare_exchange_strong(seen, notice::late_task, std::memory_order_acq_rel)) // await_notice
        waiter.load(std::memory_order_relaxed)->end_one();
}

void child_counter::wait(wait_mode awaited, begins what) {
    FULT_ASSERT(awaited == wait_mode::for_bodies || awaited == wait_mode::for_trees);
    FULT_ASSERT(is_here(owner->at) && mode.load(std::memory_order_relaxed) == wait_mode::counting,
                "the owner waits, for one thing at a time");
    if (is_over(awaited, outstanding()))
        return;
    run_own_children(owner, what);
    std::int64_t open = outstanding();
    if (is_over(awaited, open))
        return;
    detail::completion call(1);
    waiter.store(&call, std::memory_order_relaxed);
    notified.store(notice::nothing, std::memory_order_relaxed);
    mode.store(awaited, std::memory_order_relaxed);
    const std::int64_t mine = std::exchange(live, 0);
    // pairs with count_end, both ways
    const std::int64_t ended = elsewhere.fetch_add(units_of(awaited) - mine, std::memory_order_acq_rel);
    open = mine - ended;
    FULT_ASSERT(mode_of(ended) == wait_mode::counting && is_count(open));
    if (!is_over(awaited, open)) {
        if (team &t = *owner->in(); t.is_serial) {
            t.late.run_until_notified(*this);
        } else {
            const omp_wait here(what);
            await_notice();
        }
        FULT_ASSERT(all_ended());
    }
    mode.store(wait_mode::counting, std::memory_order_relaxed);
    live = units_of(awaited) - elsewhere.exchange(0, std::memory_order_acq_rel); // pairs with count_end
    FULT_ASSERT(is_count(live) && is_over(awaited, live), "the last end has been counted");
}

namespace {

// Returns the zombie whose last descendant has ended by this, or null.
omp_task *count_one_end(child_counter &s, std::int64_t n) noexcept {
    FULT_ASSERT(n == one_body || n == one_tree || n == one_task, "the end of one");
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
        if (!ended->counted_in)
            return delete_initial_task(ended);
        FULT_ASSERT(!ended->has(is_implicit), "that of a region waits for its descendants");
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
