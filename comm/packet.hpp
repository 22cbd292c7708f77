// A buffer of a device: what goes over the network in one message of a transport, or arrives from it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fult::comm::detail {

// Room that providers want for their own notes on an operation in flight (FI_CONTEXT2 of fi_getinfo(3): eight
// pointers). Comes first, so that the provider's pointer is the operation's.
struct provider_notes {
    void *notes[8];
};

// What an operation in flight is, for who hears of its end by the address of its notes.
enum class posted_kind : std::uint32_t { send, receive, transfer };

struct posted {
    provider_notes notes;
    posted_kind kind;
};

// The head of a buffer; the bytes follow it at once. Buffers are made by packet_pool, aligned to cache lines.
struct alignas(64) packet : posted {
    std::uint32_t size = 0;     // bytes in use: to be sent, or arrived
    std::uint32_t capacity = 0; // bytes that it can hold
    std::uint32_t home = 0;     // the pool's part that it belongs to
    int rank = -1;              // where it is sent to
    std::uint32_t handled = 0;  // bytes of one that arrived and waits for memory (device.hpp)
    void *descriptor[2] = {};   // of its memory, for each transport that wants memory registered
    packet *next = nullptr;
    bool is_silent = false; // nothing but records that are not counted (wire.hpp)

    std::byte *data() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
    const std::byte *data() const noexcept { return reinterpret_cast<const std::byte *>(this + 1); }
};

} // namespace fult::comm::detail
