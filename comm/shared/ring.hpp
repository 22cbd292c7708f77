// A ring of bytes in shared memory that carries messages from one rank to another. One writer, one reader, no
// locks: neither can block the other if it is killed. Neither side trusts what it reads.
//
// A message is a word with its size and a mark, followed by its bytes, padded to a multiple of 8. It may wrap
// around the end of the ring, except for the word. The word is written last; before, the word behind the
// message, where the next message begins, is set to zero. So the reader polls a single word and writes
// nothing there, and a short message costs one cache-line transfer. The positions kept by both sides count
// all bytes since the beginning.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

// Shared state of the two sides. All-zero bytes are the initial state. On separate pairs of lines, since
// processors prefetch in pairs.
struct ring_control {
    alignas(128) std::atomic<std::uint64_t> taken{0};   // number of bytes that the reader has consumed
    alignas(128) std::atomic<std::uint32_t> watched{0}; // the reader polls without being notified
};

struct ring_location {
    ring_control *control = nullptr;
    std::byte *data = nullptr;
    std::size_t bytes = 0;       // of data, a multiple of 8
    std::size_t max_message = 0; // maximum message size in bytes
    std::uint32_t mark = 0;      // part of each message's word, so that messages of other ranks are detected
};

inline constexpr std::size_t ring_word = sizeof(std::uint64_t);

// Bytes that a message occupies.
constexpr std::size_t framed_size(std::size_t size) noexcept {
    return ring_word + (size + ring_word - 1) / ring_word * ring_word;
}
// The number of largest messages that a ring holds, so that both sides can work at the same time.
inline constexpr std::size_t messages_per_ring = 4;
// Bytes of the smallest ring for messages of up to `most` bytes: a zero word follows each message.
constexpr std::size_t min_ring(std::size_t max_message) noexcept {
    return framed_size(max_message) + ring_word;
}
static_assert(framed_size(0) == ring_word && framed_size(1) == 2 * ring_word &&
              framed_size(8) == 2 * ring_word);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "other processes access them");

enum class ring_state {
    ready,       // put: done; peek: there is a message
    unavailable, // put: no space; peek: no message
    broken       // the other side has written invalid data
};

// Common to both sides.
class ring_side {
  protected:
    ring_side() = default;
    explicit ring_side(const ring_location &location) noexcept : location_(location) {}

    std::uint64_t word_for(std::size_t size) const noexcept {
        const auto turn = static_cast<std::uint32_t>(position_ / ring_word);
        return static_cast<std::uint64_t>(location_.mark ^ turn) << 32 | (size + 1);
    }
    std::atomic_ref<std::uint64_t> word(std::size_t offset) const noexcept {
        FULT_ASSERT(offset % ring_word == 0 && offset + ring_word <= location_.bytes, "a word does not wrap");
        return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t *>(location_.data + offset));
    }
    // Wraps an offset that is beyond the end by less than a ring.
    std::size_t wrapped(std::size_t offset) const noexcept {
        return offset >= location_.bytes ? offset - location_.bytes : offset;
    }
    void advance(std::size_t bytes) noexcept {
        FULT_ASSERT(bytes % ring_word == 0 && bytes < location_.bytes);
        position_ += bytes;
        offset_ = wrapped(offset_ + bytes);
        FULT_ASSERT(offset_ == position_ % location_.bytes);
    }

    ring_location location_;
    std::uint64_t position_ = 0;
    std::size_t offset_ = 0; // position_ % bytes
};

class ring_writer : ring_side {
  public:
    ring_writer() = default;
    explicit ring_writer(const ring_location &location) noexcept
        : ring_side(location), end_(location.bytes) {}

    // size <= max_message. in_order: later sequentially consistent reads by the caller see nothing older than
    // the message, which `watched` requires.
    ring_state put(const void *bytes, std::size_t size, bool in_order) noexcept {
        const std::size_t length = framed_size(size);
        FULT_ASSERT(size <= location_.max_message && position_ <= end_);
        if (position_ + length + ring_word > end_) {
            if (!update_room()) [[unlikely]]
                return ring_state::broken;
            if (position_ + length + ring_word > end_)
                return ring_state::unavailable;
        }
        if (size != 0)
            copy_in(wrapped(offset_ + ring_word), static_cast<const std::byte *>(bytes), size);
        // ordered by the release below
        word(wrapped(offset_ + length)).store(0, std::memory_order_relaxed);
        if (in_order)
            word(offset_).store(word_for(size), std::memory_order_seq_cst);
        else
            word(offset_).store(word_for(size), std::memory_order_release);
        advance(length);
        return ring_state::ready;
    }

    // True if the reader has consumed all messages, as far as it reports. Nothing depends on its truth.
    bool is_empty() const noexcept {
        return location_.control->taken.load(std::memory_order_relaxed) == position_;
    }

    // Called after a message: true if the reader must be notified, which then counts as done.
    bool claim_notification() noexcept {
        std::atomic<std::uint32_t> &watched = location_.control->watched;
        if (watched.load(std::memory_order_seq_cst) != 0) [[likely]]
            return false;
        watched.store(1, std::memory_order_relaxed); // before notifying: it may sleep again after that
        return true;
    }

  private:
    bool update_room() noexcept {
        const std::uint64_t taken = location_.control->taken.load(std::memory_order_acquire);
        if (taken > position_ || taken + location_.bytes < end_ || taken % ring_word != 0)
            return false;
        end_ = taken + location_.bytes;
        return true;
    }
    void copy_in(std::size_t offset, const std::byte *from, std::size_t size) noexcept {
        FULT_ASSERT(offset < location_.bytes && size <= location_.bytes);
        const std::size_t first = std::min(size, location_.bytes - offset);
        std::memcpy(location_.data + offset, from, first);
        if (first != size) [[unlikely]]
            std::memcpy(location_.data, from + first, size - first);
    }

    std::uint64_t end_ = 0; // the position up to which there is known to be space
};

class ring_reader : ring_side {
  public:
    ring_reader() = default;
    explicit ring_reader(const ring_location &location) noexcept : ring_side(location) {}

    // Checks for a message and its size. Then call take, or peek again.
    ring_state peek(std::size_t &size) const noexcept {
        return check_word(word(offset_).load(std::memory_order_acquire), size);
    }

    // Copies out the message that peek found. The writer may reuse its space after release_room.
    void take(std::byte *to, std::size_t size) noexcept {
        FULT_ASSERT(size <= location_.max_message, "peek has found it");
        const std::size_t offset = wrapped(offset_ + ring_word);
        const std::size_t first = std::min(size, location_.bytes - offset);
        if (size != 0)
            std::memcpy(to, location_.data + offset, first);
        if (first != size) [[unlikely]]
            std::memcpy(to + first, location_.data, size - first);
        advance(framed_size(size));
    }
    void release_room() noexcept { location_.control->taken.store(position_, std::memory_order_release); }

    // Requests notifications from the writer. False: a message has arrived, and polling continues.
    bool request_notification() noexcept {
        location_.control->watched.store(0, std::memory_order_seq_cst);
        if (word(offset_).load(std::memory_order_seq_cst) == 0)
            return true;
        location_.control->watched.store(1, std::memory_order_relaxed);
        return false;
    }

  private:
    ring_state check_word(std::uint64_t found, std::size_t &size) const noexcept {
        if (found == 0)
            return ring_state::unavailable;
        size = static_cast<std::size_t>(static_cast<std::uint32_t>(found)) - 1;
        return size <= location_.max_message && found == word_for(size) ? ring_state::ready
                                                                        : ring_state::broken;
    }
};

} // namespace fult::comm::detail
