#include <new>
#include <stdexcept>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/detail/tied.hpp>

#include "fult/base/check.hpp"
#include "way_home.hpp"
#include "worker.hpp"

namespace fult::detail {

bool tie_current() noexcept {
    worker *const w = this_worker();
    FULT_ASSERT(w && w->current);
    task *const self = w->current;
    if (home_of(self) != w || task_below(self))
        return false;
    FULT_ASSERT(!w->current_stack()->tied_to, "the first task of a stack is tied once");
    self->pinned = true; // until release_joined
    w->current_stack()->pinned = true;
    w->current_stack()->tied_to = w;
    return true;
}

void untie_current() noexcept {
    FULT_ASSERT(this_worker()->current_stack()->tied_to == this_worker());
    this_worker()->current_stack()->tied_to = nullptr;
}

void end_inline_row() noexcept {
    if (is_stack_low(this_worker()))
        this_worker()->end_row();
}

task *take_slot_for_tied() noexcept {
    try {
        return take_slot_slow();
    } catch (const std::exception &error) {
        fatal("tied task", "%s", error.what());
    }
}

tied_above::tied_above(task *slot, const task_ops *ops, void *stored) noexcept : task_(slot) {
    worker *const w = this_worker();
    FULT_ASSERT(home_of(task_) == w && w->current, "a slot of this worker, above a running task");
    task_->ops = ops;
    ::new (task_->storage) void *(stored);
    task_->pinned = true;
    stack *const on = w->current_stack();
    pinned_before_ = on->pinned;
    tied_before_ = on->tied_to;
    on->pinned = true;
    on->tied_to = w;
    run_.emplace(w, task_);
}

tied_above::~tied_above() {
    run_.reset();
    worker *const w = this_worker();
    FULT_ASSERT(home_of(task_) == w, "a tied task stays on its worker");
    stack *const on = w->current_stack();
    on->pinned = pinned_before_;
    on->tied_to = tied_before_;
    task_->pinned = false;
    release_slot(w, task_);
}

} // namespace fult::detail
