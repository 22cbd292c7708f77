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

struct in_flight : posted {
    posted *what = nullptr; // nullptr: abandoned, or free
    int rank = -1;
    std::size_t bytes = 0;             // of a piece of a transfer
    std::byte *place = nullptr;        // where a piece belongs that goes through
    staging_buffer *through = nullptr; // this buffer, which is the record's until its end
    in_flight *before = nullptr;
    in_flight *after = nullptr;
};

// Not thread-safe.
class operations {
  public:
    operations() noexcept {
        posted *const none = nullptr;
        flying_.what = none;
        flying_.before = flying_.after = &flying_;
    }
    operations(const operations &) = delete;
    operations &operator=(const operations &) = delete;

    // nullptr if no memory is available.
    in_flight *begin(posted &what, int rank) noexcept {
        if (free_ == nullptr && !grow())
            return nullptr;
        in_flight *const op = free_;
        FULT_ASSERT(!op->what, "a free record has no operation");
        free_ = op->after;
        op->kind = what.kind;
        op->what = &what;
        op->rank = rank;
        op->through = nullptr;
        op->after = &flying_;
        op->before = flying_.before;
        op->before->after = op;
        flying_.before = op;
        return op;
    }

    // The provider has finished. Returns the object of the operation, or nullptr if it was abandoned.
    posted *end(in_flight *op) noexcept {
        FULT_ASSERT(op != &flying_ && op->before->after == op && op->after->before == op, "it is in flight");
        op->before->after = op->after;
        op->after->before = op->before;
        posted *const what = op->what;
        op->what = nullptr;
        op->after = free_;
        free_ = op;
        return what;
    }

    // Calls f(in_flight &) for each operation to that rank that was not abandoned, oldest first; f may
    // abandon it, but not end it.
    template <class F> void each_to(int rank, F f) {
        for (in_flight *op = flying_.after; op != &flying_; op = op->after)
            if (op->rank == rank && op->what)
                f(*op);
    }

    std::size_t capacity() const noexcept { return blocks_.size() * per_block; }

  private:
    static constexpr std::size_t per_block = 128;

    bool grow() noexcept {
        try {
            blocks_.push_back(std::make_unique<in_flight[]>(per_block));
        } catch (const std::bad_alloc &) {
            return false;
        }
        for (std::size_t i = 0; i < per_block; ++i) {
            in_flight &op = blocks_.back()[i];
            op.after = free_;
            free_ = &op;
        }
        return true;
    }

    in_flight flying_{}; // the head of a ring, oldest first
    in_flight *free_ = nullptr;
    std::vector<std::unique_ptr<in_flight[]>> blocks_;
};

} // namespace fult::comm::detail
