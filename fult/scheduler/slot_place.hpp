// Where a task tree takes its slots. After a wait the tree goes on there, whatever ran in the meantime: trees
// that take turns on a worker would otherwise take slots between those of each other, and none could free its
// own in stack order any more (docs/scheduler.md, "Trees that take turns").
#pragma once

#include "worker.hpp"

namespace fult::detail {

class slot_place {
  public:
    explicit slot_place(const worker &here) noexcept : left_(&here), next_(here.slots.next()) {}

    // Called when the task goes on, possibly on another worker. row_ended: it was left at the end of a row of
    // joins.
    void resume(bool row_ended = false) const noexcept {
        worker *const here = this_worker();
        here->slots.resume(here == left_ ? next_ : nullptr, row_ended);
    }

  private:
    const worker *left_;
    const task *next_;
};

} // namespace fult::detail
