// Operations that became complete while a thread had the lock: what waits for them is notified after it is
// unlocked.
#pragma once

#include "operation.hpp"

namespace fult::mpi {

class completed_operations {
  public:
    completed_operations() = default;
    completed_operations(const completed_operations &) = delete;
    completed_operations &operator=(const completed_operations &) = delete;
    ~completed_operations() { FULT_ASSERT(empty(), "what is complete was notified"); }

    bool empty() const noexcept { return !first_; }
    unsigned count() const noexcept { return count_; }

    void add(operation &op) noexcept {
        FULT_ASSERT(op.parts_left == 0 || op.error != MPI_SUCCESS);
        op.next = nullptr;
        (last_ ? last_->next : first_) = &op;
        last_ = &op;
        ++count_;
    }

    // Without the lock. Each may be gone afterwards.
    void notify_all() noexcept {
        while (operation *const each = first_) {
            first_ = each->next;
            each->notify();
        }
        last_ = nullptr;
        count_ = 0;
    }

  private:
    operation *first_ = nullptr; // notified in the order of their completion
    operation *last_ = nullptr;
    unsigned count_ = 0;
};

} // namespace fult::mpi
