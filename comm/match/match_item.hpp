// What is matched: a receive that was posted, or a message that has arrived.
#pragma once

#include <cstdint>

namespace fult::comm::detail {

enum class match_kind : std::uint8_t { receive, message };

// Base of both. The links are in it, so that matching never allocates; while an item is queued they belong to
// the table, which looks no further into the item. Whoever keeps an item keeps it alive until it was matched
// or removed.
struct match_item {
    std::uint64_t key = 0;
    match_item *next = nullptr;  // the next younger of that key; in a list that remove_if returns: the next
    match_item *prev = nullptr;  // the next older; of the oldest: the youngest
    match_item *chain = nullptr; // of the oldest: that of another key in the same bucket
    match_kind kind = match_kind::receive;
    bool queued = false; // under the lock of the table's bucket
};

// endpoint: 12 bits, rank: 20, tag: 32
constexpr std::uint64_t match_key(std::uint32_t endpoint, std::uint32_t rank, std::uint32_t tag) noexcept {
    return static_cast<std::uint64_t>(endpoint) << 52 | static_cast<std::uint64_t>(rank) << 32 | tag;
}

} // namespace fult::comm::detail
