// Ready bits that any thread may set: one bit per slot, with two levels of hints above.
//
// The words are authoritative. A summary bit covers a cache line of words (512 slots), a top bit covers a
// summary word. The order matters (scheduler.md; tests/model/levels.pml): a setter writes words -> summary ->
// top; a scanner that finds nothing below a hint clears the hint first and checks again afterwards. The first
// line has no hints: up to 512 slots are one line to scan and one OR to wake. Source: figure 4.2 and section
// 4.2.3 of Dang's dissertation, which has the reverse order of setting in one sentence.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>

namespace fult::detail {

using shared_word = std::atomic<std::uint64_t>;

inline constexpr std::uint32_t words_in_line = cache_line / sizeof(shared_word);

inline constexpr std::uint32_t top_words = max_slots / (64 * words_in_line) / 4096; // 8: one line
static_assert(top_words == 8);

struct public_words {
    // Offsets in a home, one set per kind.
    struct offsets {
        std::uintptr_t words, summary, top;
    };

    shared_word *words;
    shared_word *summary;
    shared_word *top;

    FULT_ALWAYS_INLINE public_words(const void *home, const offsets &at) noexcept
        : words(locate(home, at.words)), summary(locate(home, at.summary)), top(locate(home, at.top)) {}

    // Sets bits of a word. Full barrier: a thread that takes the bits sees what the caller wrote before, and
    // a later load of the sleepers is ordered after the OR (tests/model/sleep.pml).
    FULT_ALWAYS_INLINE void set(std::uint32_t word, std::uint64_t bits) const noexcept {
        FULT_ASSERT(word < max_slots / 64);
        words[word].fetch_or(bits, std::memory_order_seq_cst); // pairs with take
        if (word >= words_in_line) [[unlikely]]                // the first line has no hints
            hint(word / words_in_line);
    }
    FULT_ALWAYS_INLINE void set_slot(std::uint32_t slot) const noexcept { set(slot >> 6, bit_of(slot)); }

    bool contains(std::uint32_t slot) const noexcept {
        return (words[slot >> 6].load(std::memory_order_relaxed) & bit_of(slot)) != 0;
    }

    // Clears the bits and returns those that were set. Acquires what their setters wrote.
    std::uint64_t take(std::uint32_t word, std::uint64_t bits) const noexcept {
        return words[word].fetch_and(~bits, std::memory_order_seq_cst) & bits; // pairs with set
    }

    // Calls visit(word, bits) for non-empty words in ascending (or descending) order until it returns true.
    // Clears stale hints on the way. `restored` is set if one was not stale: while it was clear, another
    // thread may have found nothing here, and gone to sleep.
    template <class Visit> bool scan(bool descending, const Visit &visit) const noexcept {
        bool restored = false;
        return scan(descending, visit, restored);
    }
    template <class Visit> bool scan(bool descending, const Visit &visit, bool &restored) const noexcept {
        if (!descending && scan_line(0, false, visit))
            return true;
        for (std::uint32_t i = line_is_zero(top) ? top_words : 0; i < top_words; ++i) {
            const std::uint32_t t = descending ? top_words - 1 - i : i;
            if (top[t].load(std::memory_order_seq_cst) != 0 && scan_top(t, descending, visit, restored))
                [[unlikely]]
                return true;
        }
        return descending && scan_line(0, true, visit);
    }

    // True if any bit seems to be set; a stale hint counts.
    bool any() const noexcept { return !line_is_zero(words) || !line_is_zero(top); }

  private:
    static shared_word *locate(const void *home, std::uintptr_t offset) noexcept {
        return at_address<shared_word>(address_of(home) + offset);
    }
    static std::uint64_t bit(std::uint32_t i) noexcept { return std::uint64_t{1} << (i & 63); }

    void hint(std::uint32_t line) const noexcept {
        FULT_ASSERT(line >> 12 < top_words);
        shared_word &s = summary[line >> 6];
        if ((s.load(std::memory_order_seq_cst) & bit(line)) == 0) // pairs with the fetch_and in scan_summary
            s.fetch_or(bit(line), std::memory_order_seq_cst);
        shared_word &t = top[line >> 12];
        if ((t.load(std::memory_order_seq_cst) & bit(line >> 6)) == 0) // pairs with the fetch_and in scan_top
            t.fetch_or(bit(line >> 6), std::memory_order_seq_cst);
    }

    template <class Visit>
    bool scan_line(std::uint32_t line, bool descending, const Visit &visit) const noexcept {
        for (std::uint32_t i = 0; i < words_in_line; ++i) {
            const std::uint32_t w = line * words_in_line + (descending ? words_in_line - 1 - i : i);
            const std::uint64_t bits =
                words[w].load(std::memory_order_seq_cst); // seq_cst: after a hint was cleared
            if (bits != 0 && visit(w, bits))
                return true;
        }
        return false;
    }

    bool line_empty(std::uint32_t line) const noexcept {
        return !scan_line(line, false, [](std::uint32_t, std::uint64_t) { return true; });
    }

    template <class Visit>
    bool scan_summary(std::uint32_t s, bool descending, const Visit &visit, bool &restored) const noexcept {
        std::uint64_t hints = summary[s].load(std::memory_order_seq_cst);
        while (hints != 0) {
            const auto b = static_cast<std::uint32_t>(descending ? 63 - std::countl_zero(hints)
                                                                 : std::countr_zero(hints));
            hints &= ~bit(b);
            const std::uint32_t line = s * 64 + b;
            if (scan_line(line, descending, visit))
                return true;
            if (line_empty(line)) { // clear the hint first, check again second
                summary[s].fetch_and(~bit(b), std::memory_order_seq_cst);
                if (!line_empty(line)) {
                    hint(line);
                    restored = true;
                    if (scan_line(line, descending, visit))
                        return true;
                }
            }
        }
        return false;
    }

    template <class Visit>
    bool scan_top(std::uint32_t t, bool descending, const Visit &visit, bool &restored) const noexcept {
        std::uint64_t hints = top[t].load(std::memory_order_seq_cst);
        while (hints != 0) {
            const auto b = static_cast<std::uint32_t>(descending ? 63 - std::countl_zero(hints)
                                                                 : std::countr_zero(hints));
            hints &= ~bit(b);
            const std::uint32_t s = t * 64 + b;
            if (scan_summary(s, descending, visit, restored))
                return true;
            if (summary[s].load(std::memory_order_seq_cst) == 0) {
                top[t].fetch_and(~bit(b), std::memory_order_seq_cst);
                if (summary[s].load(std::memory_order_seq_cst) != 0) {
                    top[t].fetch_or(bit(b), std::memory_order_seq_cst);
                    restored = true;
                    if (scan_summary(s, descending, visit, restored))
                        return true;
                }
            }
        }
        return false;
    }
};

// Offsets in a home: hints in its second mebibyte, words from the sixteenth mebibyte on.
inline constexpr public_words::offsets runnable_offsets{0x100'0000, 0x10'1000, 0x10'0000};
inline constexpr public_words::offsets pinned_offsets{0x140'0000, 0x10'2000, 0x10'0040};
inline constexpr public_words::offsets returned_offsets{0x180'0000, 0x10'3000, 0x10'0080};

// No two of these arrays overlap, and a line of top words has a cache line of its own.
constexpr bool lie_apart(const public_words::offsets &a, const public_words::offsets &b) noexcept {
    constexpr std::uintptr_t words = max_slots / 8, summary = words / 64 / words_in_line, top = cache_line;
    return a.words + words <= b.words && a.summary + summary <= b.summary && a.top + top <= b.top;
}
static_assert(lie_apart(runnable_offsets, pinned_offsets) && lie_apart(pinned_offsets, returned_offsets));
static_assert(returned_offsets.words + max_slots / 8 <= slot_words_offset);

} // namespace fult::detail
