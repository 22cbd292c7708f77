// Spans of buffers as the source and the target of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>

#include <fult/comm/endpoint.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

// A position in a span of buffers. Parts are mostly accessed in order, so it moves on from the last one.
template <class Buffer> class piece_cursor {
  public:
    explicit piece_cursor(std::span<const Buffer> all) noexcept : all_(all) {}

    // Calls f(byte of a buffer, size) for the pieces of a part of the message.
    template <class F> void each(std::size_t offset, std::size_t size, F f) noexcept {
        if (offset < before_)
            index_ = before_ = 0;
        while (size != 0) {
            FULT_ASSERT(index_ < all_.size(), "the part lies within the buffers");
            const Buffer &here = all_[index_];
            if (offset >= before_ + here.size) {
                before_ += here.size;
                ++index_;
                continue;
            }
            const std::size_t in = offset - before_, length = std::min(size, here.size - in);
            f(static_cast<std::byte *>(const_cast<void *>(static_cast<const void *>(here.data))) + in,
              length);
            offset += length;
            size -= length;
        }
    }

    static std::size_t total(std::span<const Buffer> all) {
        std::size_t size = 0;
        for (const Buffer &each : all)
            if (__builtin_add_overflow(size, each.size, &size))
                throw std::invalid_argument("fult-comm: no memory is as large as all buffers of a message");
        return size;
    }

  private:
    std::span<const Buffer> all_;
    std::size_t index_ = 0;
    std::size_t before_ = 0; // bytes of the buffers before that one
};

class pieces_source final : public message_source {
  public:
    explicit pieces_source(std::span<const const_buffer> all) noexcept : at_(all) {}
    void read(std::size_t offset, std::byte *to, std::size_t size) const noexcept override {
        at_.each(offset, size, [&](const std::byte *from, std::size_t length) {
            std::memcpy(to, from, length);
            to += length;
        });
    }

  private:
    mutable piece_cursor<const_buffer> at_; // one operation reads it, one part at a time
};

class pieces_target final : public message_target {
  public:
    explicit pieces_target(std::span<const mutable_buffer> all) noexcept : at_(all) {}
    void write(std::size_t offset, const std::byte *from, std::size_t size) noexcept override {
        at_.each(offset, size, [&](std::byte *to, std::size_t length) {
            std::memcpy(to, from, length);
            from += length;
        });
    }

  private:
    piece_cursor<mutable_buffer> at_;
};

// A single buffer with bytes needs neither.
template <class Buffer> const Buffer *only_one(std::span<const Buffer> all) noexcept {
    const Buffer *found = nullptr;
    for (const Buffer &each : all) {
        if (each.size != 0 && found)
            return nullptr;
        found = each.size != 0 ? &each : found;
    }
    return found;
}

} // namespace fult::comm::detail
