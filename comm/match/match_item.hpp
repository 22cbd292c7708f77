// The items that are matched: posted receives and messages that have arrived.
#pragma once

#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

enum class match_kind : std::uint8_t { receive, message };

// Base of both. It contains the links, so that matching never allocates. While an item is queued the links
// belong to the table, which accesses nothing else of the item. The owner keeps an item alive until it was
// matched or removed.
struct match_item {
    std::uint64_t key = 0;
    match_item *next = nullptr;  // next younger item of that key; in a list returned by remove_if: the next
    match_item *prev = nullptr;  // next older item; of the oldest: the youngest
    match_item *chain = nullptr; // of an oldest item: the oldest of another key in the same bucket
    match_kind kind = match_kind::receive;
    bool queued = false; // protected by the lock of the table's bucket
};

// endpoint: 12 bits, rank: 20, tag: 32
constexpr std::uint64_t match_key(std::uint32_t endpoint, std::uint32_t rank, std::uint32_t tag) noexcept {
    FULT_ASSERT(endpoint < 1u << 12 && rank < 1u << 20, "each part of a key has its own bits");
    return static_cast<std::uint64_t>(endpoint) << 52 | static_cast<std::uint64_t>(rank) << 32 | tag;
}
static_assert(match_key(0xfff, 0xfffff, 0xffffffff) == ~std::uint64_t{0});

} // namespace fult::comm::detail
