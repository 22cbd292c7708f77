#include "ready_set.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "fult/base/asymmetric_fence.hpp"
#include "fult/base/sanitizer.hpp"
#include "way_home.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

unsigned highest_bit(std::uint64_t bits) noexcept {
    return static_cast<unsigned>(63 - std::countl_zero(bits));
}
unsigned lowest_bit(std::uint64_t bits) noexcept { return static_cast<unsigned>(std::countr_zero(bits)); }

// The bits of a word that belong to slots from `least` on.
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
    set_current_word(0);
}

// Private words ---------------------------------------------------------------------------------------------------------------

// The bytes of 64 slots as bits. Acquire, for a thief: pairs with the release stores of spawn.
std::uint64_t ready_set::ready_bits(std::uint32_t word) const noexcept {
    const ready_byte *bytes = bytes_ + std::size_t{word} * 64;
    if constexpr (!sanitizer::thread)
        return low_bits_of_line(bytes);
    std::uint64_t bits = 0; // TSan orders by address and would not see that eight bytes form one load
    for (unsigned i = 0; i < 64; ++i)
        bits |= std::uint64_t{bytes[i].load(std::memory_order_acquire)} << i;
    return bits;
}

void ready_set::add_ready(task *t) noexcept {
    reconcile_if_revoked();
    check_becomes_private(t, false);
    ready_turn_.words.insert(slot_of(t) >> 6);
    bytes_[slot_of(t)].store(1, std::memory_order_release);
    owner_barrier();
}

// The next word, from `word` downwards, that has bits of the sweep's kind, or -1. Drops stale entries, except
// the word that spawn fills without inserting it.
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

// Round robin: downwards through all words (upwards with breadth_first), so that each task is reached.
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
            wrapped = true; // wrap around; drops stale entries there
            next = breadth_first_ ? next_above(s, 0) : next_below(s, s.words.highest(), bits);
            if (next < 0)
                return nullptr;
        }
        s.word = static_cast<std::uint32_t>(next);
        s.left = ~std::uint64_t{0};
    }
}

// Between private and public ----------------------------------------------------------------------------------------------------

// Makes private tasks claimable by others; pinned ones by their home only. Returns the number of tasks that
// others may take.
unsigned ready_set::make_bits_claimable(std::uint32_t word, std::uint64_t bits) noexcept {
    FULT_ASSERT(bits != 0);
    std::uint64_t here_only = 0;
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        task *t = task_at(word, lowest_bit(rest));
        const bool bound = t->context && stays_home(t);
        here_only |= bound ? rest & -rest : 0;
        set_claimable(*t, bound ? ready_pinned : ready);
    }
    if (here_only != 0)
        pinned().set(word, here_only);
    if (bits != here_only) {
        runnable().set(word, bits & ~here_only);
        show();
    }
    return static_cast<unsigned>(std::popcount(bits & ~here_only));
}

// Publishes the oldest tasks: they are the largest pieces of work in a tree, and the owner needs them last.
// All of a word if there are more words, else half of it.
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
        if (const unsigned count = bits != 0 ? make_bits_claimable(word, bits) : 0; count != 0)
            return count;
    }
}

unsigned ready_set::publish() noexcept {
    const unsigned count = publish(ready_turn_);
    return count != 0 ? count : publish(yielded_turn_);
}

// The thief's side of a revocation (tests/model/revoke.pml). While `revoked` stays set, the owner can finish
// at most the change that it has begun, and then waits for the lock; so one barrier suffices for any number
// of words.
unsigned ready_set::revoke() noexcept {
    if (!revoking_.try_lock())
        return 0;
    if ((home_->request_flags.load(std::memory_order_relaxed) & revoked) == 0) {
        if (!may_have_private()) {
            revoking_.unlock();
            return 0;
        }
        home_->request_flags.fetch_or(revoked, std::memory_order_seq_cst);
        asymmetric_fence();
    }
    unsigned count = move_oldest(ready_turn_);
    if (count == 0)
        count = move_oldest(yielded_turn_);
    revoking_.unlock();
    return count;
}

unsigned ready_set::move_oldest(const sweep &s) noexcept {
    FULT_ASSERT(revoking_.is_held());
    FULT_ASSERT((home_->request_flags.load(std::memory_order_relaxed) & revoked) != 0,
                "the owner is notified first");
    for (int w = s.words.lowest(); w >= 0; w = s.words.at_least(static_cast<std::uint32_t>(w) + 1)) {
        const auto word = static_cast<std::uint32_t>(w);
        const std::uint64_t moved = words_[word].moved.load(std::memory_order_relaxed);
        const std::uint64_t bits = bits_of(s, word) & ~moved;
        if (bits == 0)
            continue;
        words_[word].moved.store(moved | bits, std::memory_order_relaxed);
        moved_first_ = std::min(moved_first_, word);
        moved_last_ = std::max(moved_last_, word);
        if (const unsigned count = make_bits_claimable(word, bits); count != 0)
            return count;
    }
    return 0;
}

std::uint64_t ready_set::reconcile(std::uint32_t asked) noexcept {
    std::uint64_t lost = 0;
    revoking_.lock();
    for (std::uint32_t w = moved_first_; w <= moved_last_ && moved_first_ != ~0u; ++w) {
        FULT_ASSERT(w < half_words, "only private words are revoked");
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
    home_->request_flags.fetch_and(~std::uint32_t{revoked}, std::memory_order_seq_cst);
    revoking_.unlock();
    return lost;
}

// Public words --------------------------------------------------------------------------------------------------------------------

template <class Visit>
bool ready_set::scan(const public_words &from, bool descending, const Visit &visit) const noexcept {
    bool restored = false;
    const bool found = from.scan(descending, visit, restored);
    if (restored) [[unlikely]]
        announce_again(from);
    return found;
}

// Of tasks whose hint was clear for a moment: as their signaler did, which another thread may have missed.
void ready_set::announce_again(const public_words &restored) const noexcept {
    const auto &home = *static_cast<const worker *>(home_);
    const bool only_home = restored.words == pinned().words;
    if (!only_home)
        show();
    home.team.wake_for(home, only_home);
}

void ready_set::clear_stale_hints() const noexcept {
    for (const public_words &each : {runnable(), pinned()})
        if (each.any())
            scan(each, false, [](std::uint32_t, std::uint64_t) { return true; }); // on its way
}

// Makes claimed, unstarted tasks, chained by `next`, claimable again.
void ready_set::put_back(task *chain) noexcept {
    while (task *t = chain) {
        FULT_ASSERT(!t->context, "only unstarted tasks are passed over");
        chain = t->next.load(std::memory_order_relaxed);
        make_claimable(t, t->pinned);
    }
}

// Claims a task whose slot is at least `least`. A thief leaves a word to another thief that is there (section
// 4.2.3).
template <bool by_thief>
ready_set::taken ready_set::take_from(const public_words &from, bool newest, wanted what,
                                      std::uint32_t least) noexcept {
    taken result;
    task *passed_over = nullptr;
    unsigned left = most_passed_over; // if `startable` is wanted: `started` is when none can start
    scan(from, newest, [&](std::uint32_t w, std::uint64_t bits) {
        bits = bits_from(least, w, bits);
        while (bits != 0) {
            const unsigned b = newest ? highest_bit(bits) : lowest_bit(bits);
            const std::uint64_t bit = std::uint64_t{1} << b;
            bits &= ~bit;
            task *t = task_at(w, b);
            if (from.take(w, bit) == 0) {
                if (by_thief)
                    return false;
                continue;
            }
            const claim_result claimed = claim(*t, !by_thief);
            if (by_thief && claimed == claim_result::pinned) {
                pinned().set_slot(w * 64 + b);
                result.forwarded = true;
            }
            if (claimed != claim_result::ours)
                continue;
            FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy, "a claimed task is the claimer's");
            const bool fits =
                what == wanted::any || t->context || (what == wanted::startable && is_startable(t));
            if (!fits) [[unlikely]] {
                t->next.store(std::exchange(passed_over, t), std::memory_order_relaxed);
                if (what == wanted::startable && --left == 0) {
                    result.next = w * 64 + b + 1;
                    return true;
                }
                continue;
            }
            result.found = t;
            return true;
        }
        return false;
    });
    if (passed_over) [[unlikely]] {
        result.passed_over = what == wanted::startable;
        put_back(passed_over);
        // a worker that may start them may have gone to sleep while they were not there
        if (const auto &home = *static_cast<const worker *>(home_); result.passed_over)
            home.team.wake_for(home, from.words == pinned().words);
    }
    return result;
}
template ready_set::taken ready_set::take_from<false>(const public_words &, bool, wanted,
                                                      std::uint32_t) noexcept;

ready_set::taken ready_set::steal(wanted what, std::uint32_t least, bool newest) noexcept {
    const public_words from = runnable();
    return from.any() ? take_from<true>(from, newest, what, least) : taken{};
}

// Makes a claimed task private again, if allowed, as if it had just yielded or been spawned. Otherwise makes
// it claimable as before.
void ready_set::take_over(task *t) noexcept {
    FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy, "it was claimed");
    if (!t->pinned && t->context) {
        add_yielded(t);
    } else if (!t->pinned && !t->extras) {
        add_ready(t);
    } else {
        make_claimable(t, t->pinned);
    }
}

// Signals come in bursts: several bits are set in the word where the last one was found. Taking the whole
// word costs one atomic operation and one scan. Tasks of the upper half have no private words.
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
        if (claim(*t, true) != claim_result::ours)
            continue;
        if (found)
            take_over(t);
        else
            found = t;
    }
    return found;
}

task *ready_set::take_public(bool started, bool gather) noexcept {
    if (gather)
        if (task *t = take_where_last())
            return t;
    if (!may_have_public())
        return nullptr;
    task *t = take_from<false>(runnable(), !breadth_first_, wanted_if(started), 0).found;
    if (t)
        last_public_ = slot_of(t) >> 6;
    return t;
}

task *ready_set::take_in_turn(const public_words &from, std::uint32_t &turn, wanted what) noexcept {
    if (!from.any())
        return nullptr;
    taken t = take_from<false>(from, false, what, turn + 1);
    if (!t.found && t.next == 0)
        t = take_from<false>(from, false, what, 0); // wrap around
    if (t.found)
        turn = slot_of(t.found);
    else if (t.next != 0)
        turn = t.next - 1;
    return t.found;
}

// Of unstarted tasks ----------------------------------------------------------------------------------------------------------

task *ready_set::take_newest_startable(unsigned most) noexcept {
    task *found = nullptr, *passed_over[most_passed_over];
    unsigned passed = 0;
    FULT_ASSERT(most <= most_passed_over);
    std::uint64_t bits = 0;
    for (int w = next_below(ready_turn_, ready_turn_.words.highest(), bits);
         w >= 0 && !found && passed < most; w = next_below(ready_turn_, w - 1, bits))
        for (const auto word = static_cast<std::uint32_t>(w); bits != 0 && !found && passed < most;) {
            const unsigned b = highest_bit(bits);
            const std::uint64_t bit = std::uint64_t{1} << b;
            task *const t =
                remove_private(word, bit) != 0 ? task_at(word, b) : nullptr; // null: a thief has it
            if (t && is_startable(t))
                found = t;
            else if (t)
                passed_over[passed++] = t;
            bits = ready_bits(word) & (bit - 1); // again: thieves may have revoked some
        }
    while (passed != 0)
        add_ready(passed_over[--passed]);
    return found;
}

task *ready_set::take_startable() noexcept {
    constexpr unsigned newest = 4;
    if (!may_have_ready())
        return nullptr;
    if (task *t = take_newest_startable(newest))
        return t;
    for (unsigned i = 0; i < most_passed_over; ++i) {
        task *const t = take_ready_in_turn();
        if (!t || is_startable(t))
            return t;
        add_ready(t);
    }
    return nullptr;
}

} // namespace fult::detail
