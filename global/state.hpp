// What a global memory consists of on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

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

struct memory_state {
    memory_state(memory &owner, comm::endpoint &ep, const memory_options &settings);
    memory_state(const memory_state &) = delete;
    memory_state &operator=(const memory_state &) = delete;

    bool is_own(place where) const noexcept { return where.rank() == rank; }
    // The region of the place's rank. Throws std::out_of_range if the bytes are not within it.
    const comm::remote_region &region_of(const char *call, place where, std::uint64_t bytes) const;
    heap_exhausted exhausted(const char *call, std::uint64_t bytes) const;
    std::byte *address_of(place where) noexcept {
        FULT_ASSERT(is_own(where), "only the own heap has addresses");
        return objects.begin() + where.offset();
    }
    // The value before. The place is checked.
    std::uint64_t carry_out(const atomic_request &wanted) noexcept;
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
    std::vector<comm::remote_region> regions; // by rank
    // Last: their handlers use all others. Requests that are carried out at once.
    comm::endpoint requests;
    // Likewise: messages that start a task each.
    comm::endpoint tasks;

  private:
    void handle(const comm::status &about, std::span<const std::byte> bytes) noexcept;
    void run_for(const comm::status &about, std::span<const std::byte> bytes) noexcept;
    void reply(int to, std::uint32_t tag, std::uint64_t value) noexcept;
    void exchange_regions(std::uint64_t wanted);
};

} // namespace fult::global::detail
