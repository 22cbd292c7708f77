// Transfers over a network go in pieces, a few of which are with the provider at a time. So a long one shows
// that it proceeds, and lets messages pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

inline constexpr std::size_t max_piece = std::size_t{1} << 20;
// With the provider, for each rank:
inline constexpr std::size_t max_active_bytes = 4 * max_piece;
inline constexpr unsigned max_active = 64;

// What is known of a transfer in progress, in its space: the provider has records of the pieces.
//
// ended <= begun <= size. It is over when all that was begun has ended, and all was begun or a piece failed.
class piece_state {
  public:
    explicit piece_state(transfer &t) noexcept : t_(t) {}

    void start(bool is_write) noexcept {
        t_.kind = request_kind::transfer;
        for (void *&each : t_.space.words)
            each = nullptr;
        set(write_word, is_write ? 1 : 0);
    }
    bool is_write() const noexcept { return get(write_word) != 0; }
    bool has_failed() const noexcept { return get(failed_word) != 0; }
    bool is_over() const noexcept {
        return get(ended_word) == get(begun_word) && (has_failed() || get(begun_word) == t_.size);
    }
    // Nothing more of it is begun.
    bool is_begun() const noexcept { return has_failed() || get(begun_word) == t_.size; }

    std::size_t next_offset() const noexcept { return get(begun_word); }
    std::size_t next_size() const noexcept {
        const std::size_t left = t_.size - get(begun_word);
        return left < max_piece ? left : max_piece;
    }
    void begin(std::size_t bytes) noexcept {
        FULT_ASSERT(bytes <= t_.size - get(begun_word));
        set(begun_word, get(begun_word) + bytes);
    }
    void end(std::size_t bytes, bool ok) noexcept {
        FULT_ASSERT(bytes <= get(begun_word) - get(ended_word));
        set(ended_word, get(ended_word) + bytes);
        if (!ok)
            fail();
    }
    void fail() noexcept { set(failed_word, 1); }

  private:
    enum word : unsigned {
        link_word,
        begun_word,
        ended_word,
        write_word,
        failed_word
    }; // the first: of lists
    std::uintptr_t get(word index) const noexcept { return fult::detail::address_of(t_.space.words[index]); }
    void set(word index, std::uintptr_t value) noexcept {
        t_.space.words[index] = fult::detail::at_address<void>(value);
    }
    transfer &t_;
};

// The transfers between this rank's memory and that of another one.
struct rank_transfers {
    request_queue unbegun; // or not begun entirely
    unsigned active = 0;   // pieces with the provider
    std::size_t active_bytes = 0;
    bool advanced = false; // bytes have moved since that was asked for

    bool has_room() const noexcept { return active < max_active && active_bytes < max_active_bytes; }
    void count_begin(std::size_t bytes) noexcept {
        ++active;
        active_bytes += bytes;
    }
    // A piece that fails says nothing about the other rank: its connection may have ended.
    void count_end(std::size_t bytes, bool ok) noexcept {
        FULT_ASSERT(active != 0 && active_bytes >= bytes, "it was counted when it began");
        --active;
        active_bytes -= bytes;
        advanced = advanced || ok;
    }
};

} // namespace fult::comm::detail
