#include "ready_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "asymmetric_fence.hpp"
#include "sanitizer.hpp"
#include "way_home.hpp"

namespace fult::detail {
namespace {

unsigned highest_bit(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(63 - std::countl_zero(bits));
}
unsigned lowest_bit(std::uint64_t bits) noexcept { return static_cast<unsigned>(std::countr_zero(bits)); }

// Those of a word's bits that belong to slots from `least` on.
std::uint64_t bits_from(std::uint32_t least, std::uint32_t word, std::uint64_t bits) noexcept {
    if (word > least >> 6)
        return bits;
    return word < least >> 6 ? 0 : bits & (~std::uint64_t{0} << (least & 63));
}

} // namespace

void ready_set::open(worker_hot *home, const options &opts) noexcept {
    home_ = home;
    words_ = slot_words(home);
    bytes_ = ready_bytes(home);
    tasks_ = tasks_of(home);
    breadth_first_ = opts.order == spawn_order::breadth_first;
    levels_ = opts.levels;
    note_current_word(0);
}

// Private words ---------------------------------------------------------------------------------------------------------------

// The bytes of 64 slots as bits. Acquire, for a thief: pairs with the release stores of spawn.
std::uint64_t ready_set::ready_bits(std::uint32_t word) const noexcept {
    const ready_byte *bytes = bytes_ + std::size_t{word} * 64;
    if constexpr (!sanitizer::thread)
        return low_bits_of_line(bytes);
    std::uint64_t bits = 0; // it orders by address, and would not see that eight bytes hold one
    for (unsigned i = 0; i < 64; ++i)
        bits |= std::uint64_t{bytes[i].load(std::memory_order_acquire)} << i;
    return bits;
}

void ready_set::add_ready(task *t) noexcept {
    forget_moved();
    ready_turn_.words.insert(slot_of(t) >> 6);
    bytes_[slot_of(t)].store(1, std::memory_order_release);
    owner_barrier();
}

// The next word, from `word` on, that has bits of the sweep's kind, or -1; drops stale entries on the way,
// but for the word that spawn fills without telling.
int ready_set::next_below(sweep &s, int word, std::uint64_t &bits) noexcept {
    while (word >= 0) {
        word = s.words.at_most(static_cast<std::uint32_t>(word));
        if (word < 0 || (bits = bits_of(s, static_cast<std::uint32_t>(word))) != 0)
            return word;
        if (s.resumable || static_cast<std::uint32_t>(word) != current_word_)
            s.words.erase(static_cast<std::uint32_t>(word));
        --word;
    }
    return -1;
}

int ready_set::next_above(sweep &s, int word) noexcept {
    for (;; ++word) {
        word = s.words.at_least(static_cast<std::uint32_t>(word));
        if (word < 0 || bits_of(s, static_cast<std::uint32_t>(word)) != 0)
            return word;
        if (s.resumable || static_cast<std::uint32_t>(word) != current_word_)
            s.words.erase(static_cast<std::uint32_t>(word));
    }
}

bool ready_set::any_private() noexcept {
    return next_above(ready_turn_, 0) >= 0 || next_above(yielded_turn_, 0) >= 0;
}

task *ready_set::take_ready() noexcept {
    if (breadth_first_)
        return take_in_turn(ready_turn_);
    for (;;) {
        std::uint64_t bits = 0;
        const int w = next_below(ready_turn_, ready_turn_.words.highest(), bits);
        if (w < 0)
            return nullptr;
        const auto word = static_cast<std::uint32_t>(w);
        const unsigned b = highest_bit(bits);
        if (remove_private(word, std::uint64_t{1} << b) != 0)
            return task_at(word, b);
    }
}

// Round robin: downwards through all words (upwards, breadth first), so that each task is reached.
task *ready_set::take_in_turn(sweep &s) noexcept {
    std::uint64_t bits = 0;
    for (bool wrapped = false;;) {
        if (const std::uint64_t left = bits_of(s, s.word) & s.left) {
            if (task *t = take_at_turn(s, left))
                return t;
            continue;
        }
        const int here = static_cast<int>(s.word);
        int next = breadth_first_ ? next_above(s, here + 1) : next_below(s, here - 1, bits);
        if (next < 0) {
            if (wrapped)
                return nullptr;
            wrapped = true; // from the other end again; drops what is stale there
            next = breadth_first_ ? next_above(s, 0) : next_below(s, s.words.highest(), bits);
            if (next < 0)
                return nullptr;
        }
        s.word = static_cast<std::uint32_t>(next);
        s.left = ~std::uint64_t{0};
    }
}

// Between private and public ----------------------------------------------------------------------------------------------------

// Shows tasks to others that were private; pinned ones to their home only. How many others may
// take.
unsigned ready_set::make_claimable(std::uint32_t word, std::uint64_t bits) noexcept {
    std::uint64_t here_only = 0;
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        task *t = task_at(word, lowest_bit(rest));
        const bool bound = t->context && stays_home(t);
        here_only |= bound ? rest & -rest : 0;
        t->state.store(bound ? ready_pinned : ready, std::memory_order_release); // pairs with claim
    }
    if (here_only != 0)
        pinned().set(word, here_only);
    if (bits != here_only)
        runnable().set(word, bits & ~here_only);
    return static_cast<unsigned>(std::popcount(bits & ~here_only));
}

// The oldest: they are the largest pieces of work in a tree, and what the owner needs last. All of a word
// where there are more words, else half of it.
unsigned ready_set::publish(sweep &s) noexcept {
    for (;;) {
        const int w = next_above(s, 0);
        if (w < 0)
            return 0;
        const auto word = static_cast<std::uint32_t>(w);
        std::uint64_t bits = bits_of(s, word);
        if (s.words.at_least(word + 1) < 0) {
            std::uint64_t oldest = 0;
            for (int take = (std::popcount(bits) + 1) / 2; take > 0; --take)
                oldest |= (bits ^ oldest) & -(bits ^ oldest);
            bits = oldest;
        }
        bits = remove_private(word, bits);
        if (const unsigned count = bits != 0 ? make_claimable(word, bits) : 0; count != 0)
            return count;
    }
}

unsigned ready_set::publish() noexcept {
    const unsigned count = publish(ready_turn_);
    return count != 0 ? count : publish(yielded_turn_);
}

// The thief's side of revocation (tests/model/revoke.pml). While `revoked` stays set the owner can finish at
// most the one change that it is in, and then waits for the lock; so one barrier serves for any number of
// words.
unsigned ready_set::revoke() noexcept {
    if (!revoking_.try_lock())
        return 0;
    if ((home_->attention.load(std::memory_order_relaxed) & revoked) == 0) {
        if (!seems_private()) {
            revoking_.unlock();
            return 0;
        }
        home_->attention.fetch_or(revoked, std::memory_order_seq_cst);
        asymmetric_fence();
    }
    unsigned count = move_oldest(ready_turn_);
    if (count == 0)
        count = move_oldest(yielded_turn_);
    revoking_.unlock();
    return count;
}

unsigned ready_set::move_oldest(const sweep &s) noexcept {
    for (int w = s.words.lowest(); w >= 0; w = s.words.at_least(static_cast<std::uint32_t>(w) + 1)) {
        const auto word = static_cast<std::uint32_t>(w);
        const std::uint64_t moved = words_[word].moved.load(std::memory_order_relaxed);
        const std::uint64_t bits = bits_of(s, word) & ~moved;
        if (bits == 0)
            continue;
        words_[word].moved.store(moved | bits, std::memory_order_relaxed);
        moved_first_ = std::min(moved_first_, word);
        moved_last_ = std::max(moved_last_, word);
        if (const unsigned count = make_claimable(word, bits); count != 0)
            return count;
    }
    return 0;
}

std::uint64_t ready_set::reconcile(std::uint32_t asked) noexcept {
    std::uint64_t lost = 0;
    revoking_.lock();
    for (std::uint32_t w = moved_first_; w <= moved_last_ && moved_first_ != ~0u; ++w) {
        slot_word &word = words_[w];
        const std::uint64_t moved = word.moved.load(std::memory_order_relaxed);
        if (moved == 0)
            continue;
        if (w == asked)
            lost = moved;
        clear_private(w, moved);
        word.moved.store(0, std::memory_order_relaxed);
    }
    moved_first_ = ~0u;
    moved_last_ = 0;
    home_->attention.fetch_and(~std::uint32_t{revoked}, std::memory_order_seq_cst);
    revoking_.unlock();
    return lost;
}

// Public words --------------------------------------------------------------------------------------------------------------------

template <class Visit>
bool ready_set::scan(const public_words &from, bool descending, const Visit &visit) const noexcept {
    if (levels_ != level_mode::one)
        return from.scan(descending, visit);
    return from.scan_lines(0, lines_.load(std::memory_order_seq_cst), descending,
                           visit) || // pairs with note_used
           from.scan_lines(half_words / words_in_line, upper_lines_.load(std::memory_order_seq_cst),
                           descending, visit);
}

bool ready_set::any_in_lines(const public_words &of) const noexcept {
    return scan(of, false, [](std::uint32_t, std::uint64_t) { return true; });
}

// Shows claimed, unstarted tasks again, chained by `outer`.
void ready_set::put_back(task *chain) noexcept {
    while (task *t = chain) {
        chain = t->outer;
        show(t, t->pinned);
    }
}

// Claims a task whose slot is at least `least`; `started`: one that has a stack.
task *ready_set::take_from(const public_words &from, bool newest, bool started,
                           std::uint32_t least) noexcept {
    if (!any(from))
        return nullptr;
    task *found = nullptr, *passed_over = nullptr;
    scan(from, newest, [&](std::uint32_t w, std::uint64_t bits) {
        bits = bits_from(least, w, bits);
        while (bits != 0) {
            const unsigned b = newest ? highest_bit(bits) : lowest_bit(bits);
            const std::uint64_t bit = std::uint64_t{1} << b;
            bits &= ~bit;
            task *t = task_at(w, b);
            if (from.take(w, bit) == 0 || claim(*t, true) != claim_outcome::ours)
                continue;
            if (started && !t->context) {
                t->outer = std::exchange(passed_over, t);
                continue;
            }
            found = t;
            return true;
        }
        return false;
    });
    put_back(passed_over);
    return found;
}

// A claimed task becomes a private one, if it may: like one that has just yielded, or was just spawned. Else
// it is shown again as it was.
void ready_set::take_over(task *t) noexcept {
    if (!t->pinned && t->context) {
        add_yielded(t);
    } else if (!t->pinned && !t->extras) {
        add_ready(t);
    } else {
        show(t, t->pinned);
    }
}

// Signals come in swarms: bits are set where the last one was found, and more than one of them. To take all
// of a word costs one atomic operation and one look for them. The other half's tasks have no private words.
task *ready_set::take_where_last() noexcept {
    const public_words from = runnable();
    const std::uint32_t w = last_public_;
    const std::uint64_t bits = from.words[w].load(std::memory_order_relaxed);
    if (bits == 0)
        return nullptr;
    const std::uint64_t all = w < half_words ? ~std::uint64_t{0} : bit_of(highest_bit(bits));
    std::uint64_t taken = from.take(w, all);
    task *found = nullptr;
    while (taken != 0) {
        const unsigned b = highest_bit(taken);
        taken &= ~bit_of(b);
        task *t = task_at(w, b);
        if (claim(*t, true) != claim_outcome::ours)
            continue;
        if (found)
            take_over(t);
        else
            found = t;
    }
    return found;
}

task *ready_set::take_public(bool started, bool gather) noexcept {
    if (task *t = take_from(pinned(), !breadth_first_, started, 0))
        return t;
    if (gather)
        if (task *t = take_where_last())
            return t;
    task *t = take_from(runnable(), !breadth_first_, started, 0);
    if (t)
        last_public_ = slot_of(t) >> 6;
    return t;
}

task *ready_set::take_in_turn(const public_words &from, std::uint32_t &turn) noexcept {
    task *t = take_from(from, false, false, turn + 1);
    if (!t)
        t = take_from(from, false, false, 0); // around
    if (t)
        turn = slot_of(t);
    return t;
}

task *ready_set::steal(bool &forwarded, bool started, std::uint32_t least) noexcept {
    task *found = nullptr, *passed_over = nullptr;
    const public_words from = runnable();
    if (!any(from))
        return nullptr;
    scan(from, false, [&](std::uint32_t w, std::uint64_t bits) {
        bits = bits_from(least, w, bits);
        while (bits != 0) {
            const unsigned b = lowest_bit(bits);
            const std::uint64_t bit = std::uint64_t{1} << b;
            bits &= ~bit;
            if (from.take(w, bit) == 0)
                return false; // somebody is at this word: on to the next (section 4.2.3)
            switch (claim(*task_at(w, b), false)) {
            case claim_outcome::ours:
                if (task *t = task_at(w, b); started && !t->context) {
                    t->outer = std::exchange(passed_over, t);
                    break;
                }
                found = task_at(w, b);
                return true;
            case claim_outcome::pinned:
                pinned().set_slot(w * 64 + b);
                forwarded = true;
                break;
            case claim_outcome::not_now:
                break;
            }
        }
        return false;
    });
    put_back(passed_over);
    return found;
}

} // namespace fult::detail
