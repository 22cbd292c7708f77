// Where a member of a team and the opener of its regions meet: the next region starts the member by a store,
// without the scheduler, and the member's end is a store. Model: tests/model/join_gate.pml.
#pragma once

#include <atomic>

#include <fult/detail/assertion.hpp>

#include "wait.hpp"

namespace fult::omp {

// Of one member. Only one thread at a time opens regions of its team, so an offer competes with the member's
// leaving alone. All that the two exchange is in this line: a region costs two transfers of it, there and
// back.
class join_gate {
  public:
    // By the opener, before a region: true if the member's task is here, and runs now. What the opener has
    // written is seen by it.
    bool offer() noexcept {
        FULT_ASSERT(has_ended(), "a member runs once a region");
        unsigned seen = state_.load(std::memory_order_relaxed);
        return (seen & kinds) == waits &&
               state_.compare_exchange_strong(seen, (seen & ~kinds) | runs,
                                              std::memory_order_acq_rel); // pairs with await
    }
    // By the opener, if it made no offer or none was taken: it starts a task. One that is still here leaves.
    void start() noexcept {
        FULT_ASSERT(has_ended(), "a member runs once a region");
        const unsigned seen = state_.load(std::memory_order_relaxed);
        state_.store((seen & ~kinds) + next_task + runs, std::memory_order_relaxed);
    }
    bool has_ended() const noexcept {
        return (state_.load(std::memory_order_seq_cst) & kinds) != runs; // pairs with end
    }
    // By the opener: suspends, or blocks a foreign thread, until the member has ended.
    void join() noexcept;

    // By the member's task, at its end: whether it stays. If not, it does not look at the team again. The
    // opener may go on at once. Returns what `await` wants.
    unsigned end(bool stays) noexcept;
    // By the member's task that stays. Waits a few microseconds, and only while no other task is ready on its
    // worker. True: it runs again. False: it has left.
    bool await(unsigned since) noexcept;
    // How long: if the threads share processors, they do not keep them.
    static void set_patience(bool shares_processors) noexcept;
    static bool has_little_patience() noexcept;

  private:
    // The number of the member's task, and what that does.
    enum : unsigned { away, runs, waits, kinds = 3, next_task = 4 };
    std::atomic<unsigned> state_{away};
    condition_wait joiner_;
};

} // namespace fult::omp
