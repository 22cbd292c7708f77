// A buffer of a device: one message of a transport, outgoing or incoming.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace fult::comm::detail {

// Space that providers require for their own state of an operation in flight (FI_CONTEXT2 of fi_getinfo(3):
// eight pointers). It comes first, so that the provider's pointer is the operation's.
struct provider_space {
    void *words[8];
};

// Kind of a work request, for the handler of its completion, which gets the address of its space.
enum class request_kind : std::uint32_t { send, receive, transfer };

struct work_request {
    provider_space space;
    request_kind kind;
};

// Work requests that no provider has, oldest first: linked by the first word of their space.
class request_queue {
  public:
    bool empty() const noexcept { return !first_; }
    work_request *first() const noexcept { return first_; } // nullptr if empty
    void add(work_request &request) noexcept {
        request.space.words[0] = nullptr;
        if (first_)
            last_->space.words[0] = &request;
        else
            first_ = &request;
        last_ = &request;
    }
    work_request *take() noexcept { // nullptr if empty
        work_request *const request = first_;
        if (request)
            first_ = static_cast<work_request *>(request->space.words[0]);
        return request;
    }

  private:
    work_request *first_ = nullptr, *last_ = nullptr;
};

// Header of a buffer, followed by the bytes. Buffers are allocated by packet_buffers, aligned to cache lines.
struct alignas(64) packet : work_request {
    std::uint32_t size = 0;     // bytes in use: to be sent, or received
    std::uint32_t capacity = 0; // bytes of the buffer
    int rank = -1;              // destination
    std::uint32_t handled = 0;  // bytes handled, of a received packet that waits for memory (device.hpp)
    void *descriptor[2] = {};   // of its memory, for each transport that requires registered memory
    packet *next = nullptr;
    unsigned calls = 0;      // of handlers, that wait or run, for its messages
    bool is_handled = false; // all of it; it waits for those calls only
    bool is_silent = false;  // holds only records that are not counted (wire.hpp)

    std::byte *data() noexcept { return reinterpret_cast<std::byte *>(this + 1); }
    const std::byte *data() const noexcept { return reinterpret_cast<const std::byte *>(this + 1); }
};
static_assert(std::is_standard_layout_v<provider_space> && sizeof(provider_space) == 64);
static_assert(offsetof(work_request, space) == 0, "a provider's pointer is the operation's");
static_assert(sizeof(packet) % 64 == 0 && alignof(packet) == 64);

} // namespace fult::comm::detail
