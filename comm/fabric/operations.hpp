// Operations in flight. The provider is given the address of such a record, not of the packet or transfer, so
// operations on a failed rank can be abandoned, and a late completion is ignored.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/packets/packet.hpp"

namespace fult::comm::detail {

struct staging_buffer;

struct fabric_operation : work_request {
    work_request *request = nullptr; // nullptr: abandoned, or free
    int rank = -1;
    std::size_t bytes = 0;             // of a piece of a transfer
    std::byte *target = nullptr;       // where a piece belongs that goes through
    staging_buffer *staging = nullptr; // this buffer, which is the record's until its end
    fabric_operation *previous = nullptr;
    fabric_operation *next = nullptr;
};

// Not thread-safe.
class operations {
  public:
    operations() noexcept {
        work_request *const none = nullptr;
        active_.request = none;
        active_.previous = active_.next = &active_;
    }
    operations(const operations &) = delete;
    operations &operator=(const operations &) = delete;

    // nullptr if no memory is available.
    fabric_operation *begin(work_request &request, int rank) noexcept {
        if (free_ == nullptr && !grow())
            return nullptr;
        fabric_operation *const op = free_;
        FULT_ASSERT(!op->request, "a free record has no operation");
        free_ = op->next;
        op->kind = request.kind;
        op->request = &request;
        op->rank = rank;
        op->staging = nullptr;
        op->next = &active_;
        op->previous = active_.previous;
        op->previous->next = op;
        active_.previous = op;
        return op;
    }

    // The provider has finished. Returns the object of the operation, or nullptr if it was abandoned.
    work_request *end(fabric_operation *op) noexcept {
        FULT_ASSERT(op != &active_ && op->previous->next == op && op->next->previous == op,
                    "it is in flight");
        op->previous->next = op->next;
        op->next->previous = op->previous;
        work_request *const request = op->request;
        op->request = nullptr;
        op->next = free_;
        free_ = op;
        return request;
    }

    // Calls f(fabric_operation &) for each operation to that rank that was not abandoned, oldest first; f may
    // abandon it, but not end it.
    template <class F> void each_to(int rank, F f) {
        for (fabric_operation *op = active_.next; op != &active_; op = op->next)
            if (op->rank == rank && op->request)
                f(*op);
    }

    std::size_t capacity() const noexcept { return blocks_.size() * per_block; }

  private:
    static constexpr std::size_t per_block = 128;

    bool grow() noexcept {
        try {
            blocks_.push_back(std::make_unique<fabric_operation[]>(per_block));
        } catch (const std::bad_alloc &) {
            return false;
        }
        for (std::size_t i = 0; i < per_block; ++i) {
            fabric_operation &op = blocks_.back()[i];
            op.next = free_;
            free_ = &op;
        }
        return true;
    }

    fabric_operation active_{}; // the head of a ring, oldest first
    fabric_operation *free_ = nullptr;
    std::vector<std::unique_ptr<fabric_operation[]>> blocks_;
};

} // namespace fult::comm::detail
