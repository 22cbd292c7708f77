// Operations under way that have no request of the layer's: probes, and waits for several requests of the
// program.
#pragma once

#include "completed.hpp"
#include "operation.hpp"

namespace fult::mpi {

// A ring, of which some are tested at a time, in turn. All under the entry_lock.
class tested_operations {
  public:
    bool empty() const noexcept { return !last_; }

    // It will be tested last.
    void add(operation &op) noexcept {
        FULT_ASSERT(op.count == 0, "what has requests is in the request_table");
        op.next = last_ ? last_->next : &op;
        if (last_)
            last_->next = &op;
        last_ = &op;
    }

    void test(completed_operations &complete) noexcept {
        const operation *const end = last_; // at most one round
        for (unsigned i = 0; last_ && i < at_once; ++i) {
            operation &first = *last_->next;
            const bool is_end = &first == end;
            if (first.test()) {
                remove_first();
                complete.add(first);
            } else {
                last_ = &first;
            }
            if (is_end)
                return;
        }
    }

    template <class Visitor> void for_each(Visitor visit) const {
        const operation *each = last_;
        if (each)
            do {
                each = each->next;
                visit(*each);
            } while (each != last_);
    }

  private:
    static constexpr unsigned at_once = 8;

    void remove_first() noexcept {
        operation *const first = last_->next;
        if (first == last_)
            last_ = nullptr;
        else
            last_->next = first->next;
    }

    operation *last_ = nullptr; // its next is the first
};

} // namespace fult::mpi
