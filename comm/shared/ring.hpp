// A ring of bytes in shared memory that carries messages from one rank to another. One side writes, the other
// reads; no locks, so neither can leave the other waiting when it is killed, and nothing that one side reads
// is trusted.
//
// A message is a word with its size and a mark, and its bytes, filled up to a multiple of 8. It may go over
// the ring's end and on at its begin, but for the word. The word is written last; the one behind the message,
// where the next one will be, is zeroed before. So the reader looks at one place only, writes nothing there,
// and a short message costs one transfer of a cache line. The positions that both sides keep count all bytes
// since the begin.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fult::comm::detail {

// What the sides tell each other beside messages. Zero bytes are the state at the begin. Lines apart, since
// processors fetch them by twos.
struct ring_control {
    alignas(128) std::atomic<std::uint64_t> taken{0};   // the reader is done with so many bytes
    alignas(128) std::atomic<std::uint32_t> watched{0}; // the reader looks for messages unasked
};

struct ring_place {
    ring_control *control = nullptr;
    std::byte *data = nullptr;
    std::size_t bytes = 0;  // of data, a multiple of 8
    std::size_t most = 0;   // bytes of a message
    std::uint32_t mark = 0; // in each message's word, so that others are told
};

inline constexpr std::size_t ring_word = sizeof(std::uint64_t);

// Bytes that a message takes.
constexpr std::size_t framed(std::size_t size) noexcept {
    return ring_word + (size + ring_word - 1) / ring_word * ring_word;
}
// A ring holds so many of the largest messages, so that its sides work at the same time.
inline constexpr std::size_t messages_a_ring = 4;
// Bytes of the smallest ring for messages of up to `most` bytes: behind each there is a word of zero.
constexpr std::size_t least_ring(std::size_t most) noexcept { return framed(most) + ring_word; }

enum class ring_state {
    ready,   // put: done; look: a message is there
    not_now, // put: no room; look: nothing there
    broken   // the other side has written nonsense
};

// What both sides have in common.
class ring_side {
  protected:
    ring_side() = default;
    explicit ring_side(const ring_place &where) noexcept : place_(where) {}

    std::uint64_t word_for(std::size_t size) const noexcept {
        const auto turn = static_cast<std::uint32_t>(position_ / ring_word);
        return static_cast<std::uint64_t>(place_.mark ^ turn) << 32 | (size + 1);
    }
    std::atomic_ref<std::uint64_t> word(std::size_t at) const noexcept {
        return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t *>(place_.data + at));
    }
    // An offset that is beyond the end by less than a ring.
    std::size_t wrapped(std::size_t at) const noexcept { return at >= place_.bytes ? at - place_.bytes : at; }
    void advance(std::size_t bytes) noexcept {
        position_ += bytes;
        at_ = wrapped(at_ + bytes);
    }

    ring_place place_;
    std::uint64_t position_ = 0;
    std::size_t at_ = 0; // position_ % bytes
};

class ring_writer : ring_side {
  public:
    ring_writer() = default;
    explicit ring_writer(const ring_place &where) noexcept : ring_side(where), end_(where.bytes) {}

    // size <= most. In order: nothing that the caller reads afterwards with sequential consistency is older
    // than the message, which `watched` requires.
    ring_state put(const void *bytes, std::size_t size, bool in_order) noexcept {
        const std::size_t length = framed(size);
        if (position_ + length + ring_word > end_) {
            if (!learn_room()) [[unlikely]]
                return ring_state::broken;
            if (position_ + length + ring_word > end_)
                return ring_state::not_now;
        }
        if (size != 0)
            copy_in(wrapped(at_ + ring_word), static_cast<const std::byte *>(bytes), size);
        // before what follows, by its release
        word(wrapped(at_ + length)).store(0, std::memory_order_relaxed);
        if (in_order)
            word(at_).store(word_for(size), std::memory_order_seq_cst);
        else
            word(at_).store(word_for(size), std::memory_order_release);
        advance(length);
        return ring_state::ready;
    }

    // Whether the reader has taken all messages, as it says: nothing depends on its being true.
    bool is_empty() const noexcept {
        return place_.control->taken.load(std::memory_order_relaxed) == position_;
    }

    // After a message: whether the reader has to be told, which is then taken for said.
    bool unwatched() noexcept {
        std::atomic<std::uint32_t> &watched = place_.control->watched;
        if (watched.load(std::memory_order_seq_cst) != 0) [[likely]]
            return false;
        watched.store(1, std::memory_order_relaxed); // before it is told: it may rest again after that
        return true;
    }

  private:
    bool learn_room() noexcept {
        const std::uint64_t taken = place_.control->taken.load(std::memory_order_acquire);
        if (taken > position_ || taken + place_.bytes < end_ || taken % ring_word != 0)
            return false;
        end_ = taken + place_.bytes;
        return true;
    }
    void copy_in(std::size_t at, const std::byte *from, std::size_t size) noexcept {
        const std::size_t first = std::min(size, place_.bytes - at);
        std::memcpy(place_.data + at, from, first);
        if (first != size) [[unlikely]]
            std::memcpy(place_.data, from + first, size - first);
    }

    std::uint64_t end_ = 0; // the position up to which there is room, as far as is known
};

class ring_reader : ring_side {
  public:
    ring_reader() = default;
    explicit ring_reader(const ring_place &where) noexcept : ring_side(where) {}

    // Whether there is a message, and of what size. Then comes take, or another look.
    ring_state look(std::size_t &size) const noexcept {
        return judge(word(at_).load(std::memory_order_acquire), size);
    }

    // The message that was seen. Its room is the writer's again after give_room.
    void take(std::byte *to, std::size_t size) noexcept {
        const std::size_t at = wrapped(at_ + ring_word);
        const std::size_t first = std::min(size, place_.bytes - at);
        if (size != 0)
            std::memcpy(to, place_.data + at, first);
        if (first != size) [[unlikely]]
            std::memcpy(to + first, place_.data, size - first);
        advance(framed(size));
    }
    void give_room() noexcept { place_.control->taken.store(position_, std::memory_order_release); }

    // From here on the writer tells when there is something. False: there is something now, and it does not.
    bool rest() noexcept {
        place_.control->watched.store(0, std::memory_order_seq_cst);
        if (word(at_).load(std::memory_order_seq_cst) == 0)
            return true;
        place_.control->watched.store(1, std::memory_order_relaxed);
        return false;
    }

  private:
    ring_state judge(std::uint64_t found, std::size_t &size) const noexcept {
        if (found == 0)
            return ring_state::not_now;
        size = static_cast<std::size_t>(static_cast<std::uint32_t>(found)) - 1;
        return size <= place_.most && found == word_for(size) ? ring_state::ready : ring_state::broken;
    }
};

} // namespace fult::comm::detail
