// Transfers over a network go in pieces, a few of which are with the provider at a time. So a long one shows
// that it proceeds, and lets messages pass.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

inline constexpr std::size_t most_of_a_piece = std::size_t{1} << 20;
// With the provider, for each rank:
inline constexpr std::size_t most_flying_bytes = 4 * most_of_a_piece;
inline constexpr unsigned most_flying = 64;

// What is known of a transfer in progress, in its notes: the provider has records of the pieces.
//
// ended <= begun <= size. It is over when all that was begun has ended, and all was begun or a piece failed.
class pieces_of {
  public:
    explicit pieces_of(transfer &t) noexcept : t_(t) {}

    void start(bool is_write) noexcept {
        t_.kind = posted_kind::transfer;
        for (void *&each : t_.notes.notes)
            each = nullptr;
        set(write_note, is_write ? 1 : 0);
    }
    bool is_write() const noexcept { return get(write_note) != 0; }
    bool has_failed() const noexcept { return get(failed_note) != 0; }
    bool is_over() const noexcept {
        return get(ended_note) == get(begun_note) && (has_failed() || get(begun_note) == t_.size);
    }
    // Nothing more of it is begun.
    bool is_begun() const noexcept { return has_failed() || get(begun_note) == t_.size; }

    std::size_t next_offset() const noexcept { return get(begun_note); }
    std::size_t next_size() const noexcept {
        const std::size_t left = t_.size - get(begun_note);
        return left < most_of_a_piece ? left : most_of_a_piece;
    }
    void begin(std::size_t bytes) noexcept {
        FULT_ASSERT(bytes <= t_.size - get(begun_note));
        set(begun_note, get(begun_note) + bytes);
    }
    void end(std::size_t bytes, bool well) noexcept {
        FULT_ASSERT(bytes <= get(begun_note) - get(ended_note));
        set(ended_note, get(ended_note) + bytes);
        if (!well)
            fail();
    }
    void fail() noexcept { set(failed_note, 1); }

  private:
    enum note : unsigned {
        link_note,
        begun_note,
        ended_note,
        write_note,
        failed_note
    }; // the first: of lists
    std::uintptr_t get(note which) const noexcept { return fult::detail::address_of(t_.notes.notes[which]); }
    void set(note which, std::uintptr_t value) noexcept {
        t_.notes.notes[which] = fult::detail::at_address<void>(value);
    }
    transfer &t_;
};

// The transfers between this rank's memory and that of another one.
struct rank_transfers {
    transfer *first = nullptr; // not begun entirely, linked by their first notes
    transfer *last = nullptr;
    unsigned flying = 0; // pieces with the provider
    std::size_t flying_bytes = 0;
    bool advanced = false; // bytes have moved since that was asked for

    bool has_room() const noexcept { return flying < most_flying && flying_bytes < most_flying_bytes; }
    void begun(std::size_t bytes) noexcept {
        ++flying;
        flying_bytes += bytes;
    }
    // A piece that fails says nothing about the other rank: its connection may have ended.
    void ended(std::size_t bytes, bool well) noexcept {
        FULT_ASSERT(flying != 0 && flying_bytes >= bytes, "it was counted when it began");
        --flying;
        flying_bytes -= bytes;
        advanced = advanced || well;
    }

    void add(transfer &t) noexcept {
        t.notes.notes[0] = nullptr;
        if (first)
            last->notes.notes[0] = &t;
        else
            first = &t;
        last = &t;
    }
    transfer *take() noexcept {
        transfer *const t = first;
        if (t)
            first = static_cast<transfer *>(t->notes.notes[0]);
        return t;
    }
};

} // namespace fult::comm::detail
