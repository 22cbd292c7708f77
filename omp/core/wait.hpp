// Waits of a thread of a team for another one.
#pragma once

#include <atomic>
#include <sched.h>

#include <fult/detail/completion.hpp>
#include <fult/detail/kernel.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/service.hpp>
#include <fult/this_task.hpp>

#include "constraint.hpp"

namespace fult::omp {

// A short wait on a worker, about a microsecond: true if the condition comes to hold while nothing else is
// ready there.
inline constexpr unsigned short_polls = 64;
template <class Condition>
bool comes_soon(const Condition &condition, unsigned looks = short_polls) noexcept {
    for (unsigned i = 0; i < looks; ++i) {
        if (condition())
            return true;
        if (i % 8 == 0 && detail::others_ready())
            return false;
        detail::cpu_relax();
    }
    return condition();
}

// Polls, and lets tasks run that have begun.
template <class Condition> void poll_until(const Condition &condition) {
    if (condition())
        return;
    const omp_wait here(begins::nothing);
    for (unsigned i = 0; !condition(); ++i) {
        if (i < 100)
            detail::cpu_relax();
        else if (detail::running_task())
            this_task::yield();
        if (i % 256 == 255)
            ::sched_yield();
    }
}

// Waits for `end`. A task first polls for a few microseconds, while nothing else is ready on its worker: that
// saves the switch. A foreign thread polls services (detail/completion.hpp).
inline void await(detail::completion &end, const detail::waiting_for &what) noexcept {
    if (detail::running_task()) {
        detail::poller poll;
        while (!end.is_ready() && poll.step())
            for (unsigned i = 0; i < detail::poller::looks_per_step && !end.is_ready(); ++i) {
            }
    }
    end.wait(what);
}

// Where one task or thread waits until others make a condition hold. tests/model/join_gate.pml.
class condition_wait {
  public:
    // One call at a time.
    template <class Condition>
    void wait_until(const Condition &holds, const detail::waiting_for &what) noexcept {
        while (!holds()) {
            detail::completion call(1);
            call_.store(&call, std::memory_order_seq_cst); // pairs with wake
            if (holds() && call_.exchange(nullptr, std::memory_order_acq_rel))
                return;
            await(call, what); // it may be late, and of an earlier condition
        }
    }
    // After the condition holds. From any thread.
    void wake() noexcept {
        if (!call_.load(std::memory_order_seq_cst)) // pairs with wait_until
            return;
        if (detail::completion *const call = call_.exchange(nullptr, std::memory_order_acq_rel))
            call->end_one();
    }
    bool any() const noexcept { return call_.load(std::memory_order_relaxed) != nullptr; }

  private:
    std::atomic<detail::completion *> call_{nullptr};
};

} // namespace fult::omp
