// Operations that have begun and not ended, and a wait for their ends.
#pragma once

#include <cstddef>
#include <mutex>

#include <fult/detail/assertion.hpp>
#include <fult/detail/spin_lock.hpp>
#include <fult/sync/event.hpp>

namespace fult::global::detail {

class pending_count {
  public:
    // From any thread; never suspend.
    void add() noexcept {
        const std::lock_guard guard(lock_);
        if (count_++ == 0)
            none_.reset();
    }
    void remove() noexcept {
        const std::lock_guard guard(lock_);
        FULT_ASSERT(count_ != 0, "it was added");
        if (--count_ == 0)
            none_.set();
    }
    // Until none is left. Suspends. Afterwards the object may be destroyed, unless others are added.
    void wait() noexcept {
        none_.wait();
        const std::lock_guard guard(lock_); // the last one has released it
    }

  private:
    fult::detail::spin_lock lock_;
    std::size_t count_ = 0;
    fult::event none_{true};
};

} // namespace fult::global::detail
