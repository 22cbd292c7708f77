// What a global memory consists of on one rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <fult/comm/collectives.hpp>
#include <fult/comm/endpoint.hpp>
#include <fult/comm/one_sided.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/completion.hpp>
#include <fult/global/memory.hpp>

#include "global/heap.hpp"
#include "global/reply_tags.hpp"

namespace fult::global::detail {

// A request for an atomic operation, as it is sent; its tag is that of the reply.
struct atomic_request {
    std::uint64_t offset = 0;
    std::uint64_t operand = 0;
    std::uint64_t expected = 0; // of compare_exchange
    atomic_operation operation{};
    atomic_type type{};
    std::uint8_t unused[6] = {};
};

// The heap of a rank.
struct rank_heap {
    comm::remote_region region;
    mapped_memory memory;               // of another rank that shares memory with this one
    std::byte *begin = nullptr;         // here; nullptr: it is not mapped
    std::atomic<bool> has_ended{false}; // its rank

    // nullptr: its rank must be asked.
    std::byte *address(place where) const noexcept {
        return begin && !has_ended.load(std::memory_order_relaxed) && !memory.has_ended()
                   ? begin + where.offset()
                   : nullptr;
    }
};

struct memory_state {
    memory_state(memory &owner, comm::endpoint &ep, const memory_options &settings);
    ~memory_state() { objects.end(); }
    memory_state(const memory_state &) = delete;
    memory_state &operator=(const memory_state &) = delete;

    bool is_own(place where) const noexcept { return where.rank() == rank; }
    // The heap of the place's rank. Throws std::out_of_range if the bytes are not within it.
    const rank_heap &heap_of(const char *call, place where, std::uint64_t bytes) const;
    const comm::remote_region &region_of(const char *call, place where, std::uint64_t bytes) const {
        return heap_of(call, where, bytes).region;
    }
    heap_exhausted exhausted(const char *call, std::uint64_t bytes) const;
    std::byte *address_of(place where) noexcept {
        FULT_ASSERT(is_own(where), "only the own heap has addresses");
        return objects.begin() + where.offset();
    }
    // After an access that did not suspend. If it was of another rank's heap, others may run: a task that
    // polls what others write must not keep those of its worker waiting, nor the progress of messages. A long
    // copy counts as many accesses. May suspend.
    void has_accessed(place where, std::size_t bytes) const noexcept;
    std::uint64_t request_change(int owner, const atomic_request &wanted);

    memory &owner;
    const int rank;
    const int size;
    heap objects;
    // Replies to requests, each with a tag of its own, and one-sided and collective operations.
    comm::endpoint replies;
    reply_tags tags;
    fult::detail::completion replies_pending; // to tasks that this rank has started at others
    fult::detail::completion running;         // tasks here that other ranks have started
    comm::region own;
    std::unique_ptr<rank_heap[]> heaps; // by rank
    // Last: their handlers use all others. Requests that are carried out at once.
    comm::endpoint requests;
    // Likewise: messages that start a task each.
    comm::endpoint tasks;

  private:
    void handle(const comm::status &about, std::span<const std::byte> bytes) noexcept;
    void run_for(const comm::status &about, std::span<const std::byte> bytes) noexcept;
    void reply(int to, std::uint32_t tag, std::uint64_t value) noexcept;
    void exchange_heaps(std::uint64_t wanted);
    void rank_ended(int which) noexcept;
};

} // namespace fult::global::detail
