// In a team of more workers than each looks at one by one (neighbours::max_neighbours): hints at the workers
// that may have tasks for others. So a search, and the last look before a sleep, cost the same in teams of a
// hundred workers and of a thousand. docs/scheduler.md, "Stealing and sleeping"; tests/model/sleep.pml,
// CROWD.
#pragma once

#include "fult/base/worker_bits.hpp"

namespace fult::detail {

class worker;

class crowd {
  public:
    // Without workers, nothing is hinted.
    void open(unsigned workers) noexcept {
        exists_ = true;
        for (unsigned i = 0; i < workers; ++i)
            hiding.add(i);
    }
    bool exists() const noexcept { return exists_; }
    // False: there is no hint. True without a crowd.
    bool may_show(unsigned worker) const noexcept { return !exists_ || shown.contains(worker); }
    bool may_hide(unsigned worker) const noexcept { return !exists_ || hiding.contains(worker); }

    // Homes with public tasks or a chain of handed-off ones: one more level above those of the public words,
    // with the same rules. Set after the task's bit, and before the sleepers are read. It is cleared by a
    // thief that finds nothing there and looks once more (forget_if_empty).
    worker_bits shown;
    void forget_if_empty(const worker &home) noexcept;

    // Workers that may have private tasks without having been asked for them. A worker that falls asleep
    // takes the bits, sets `work_requested` there, and looks at their private words after a fence: it sets
    // the bits again where there are tasks. Their owner sets its bit after it has cleared `work_requested`.
    // So a worker whose bit is clear either publishes at its next change of a private word, or another one,
    // which is awake, is about to look there.
    worker_bits hiding;

  private:
    bool exists_ = false;
};

} // namespace fult::detail
