// Fairness: every ready task runs after a bounded number of decisions, whatever other tasks do
// (docs/scheduler.md, "Fairness"; tests/model/fair.pml).
//
// A fairness decision takes from the first of the sources that has a task, in rotation (work_sources.hpp).
// Each source is a sweep: it passes every other ready task at most once before it reaches one.
#include <algorithm>

#include "fult/base/held_locks.hpp"
#include "suspend.hpp"
#include "switch.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Stack bytes for the inline joins between two decisions of a task: fewer if the stack is nearly used up,
// more on larger stacks.
constexpr std::uintptr_t row = 8192 * row_step;

} // namespace

// Decisions of a task that does not call yield ------------------------------------------------------------------------------

void worker::take_turn(bool unstarted_too) noexcept {
    check_no_spinlock("a join or a wait");
    task *const self = current;
    if (request_flags.load(std::memory_order_relaxed) != 0)
        poll_requests(this);
    if (team.services.any())
        team.services.poll();
    task *const next = is_selective    ? pick_selected(true, true)
                       : unstarted_too ? sources.take_fair(*this)
                                       : sources.take_fair_except<unstarted_tasks>(*this);
    if (next)
        switch_from(self, switch_reason::yield, next);
}

void worker::end_row() noexcept {
    if (stack_limit == inline_limit_ || inline_limit_ == never_inline)
        return; // the stack is low
    decisions.next();
    const bool starts = decisions.count_row();
    const slot_place place(*this);
    if (starts) { // else another source that always has a task could always come before that one
        sources.set_turn<unstarted_tasks>();
        slots.begin_apart();
    }
    const std::uint32_t slot = slot_of(current);
    auto &interrupted = sources.get<interrupted_tasks>();
    if (home_of(current) == this)
        interrupted.push(slot);
    take_turn(starts);
    worker *const w = this_worker(); // possibly another worker
    if (w == this)
        interrupted.drop(slot);
    place.resume(true);
    w->stack_limit = std::max(w->inline_limit_, stack_pointer() - row);
}

} // namespace fult::detail
