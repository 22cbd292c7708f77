// The back-off of loops that wait for another thread's few instructions, and the lock that uses it.
#pragma once

#include <sched.h>

#include <fult/detail/platform.hpp>
#include <fult/detail/spin_lock.hpp>

namespace fult::detail {

// Called between two looks. Now and then it yields the processor, as the other thread may have been
// preempted, and returns true.
class spin_wait {
  public:
    bool operator()() noexcept {
        if (++turns_ % 64 != 0) {
            cpu_relax();
            return false;
        }
        ::sched_yield();
        return true;
    }

  private:
    unsigned turns_ = 0;
};

} // namespace fult::detail
