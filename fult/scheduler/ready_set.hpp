// The ready tasks of one home: private words, changed by its worker only, and public words, changed by any
// thread.
#pragma once

#include <bit>
#include <cstdint>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/options.hpp>

#include "fult/base/bit_tree.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/base/spin_lock.hpp"
#include "fult/base/worker_bits.hpp"
#include "fult/memory/slot_allocator.hpp"
#include "fult/tasks/public_words.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {

// What a taker wants. What else it claims it puts back, and it gives up after so many of these.
enum class wanted { any, started, startable };
inline constexpr unsigned most_passed_over = 16;

// True of a claimed task that the calling worker may run.
inline bool is_startable(const task *t) noexcept {
    return t->context || !t->ops->may_start || t->ops->may_start(*t);
}

class ready_set {
  public:
    void open(worker_hot *home, const options &opts) noexcept;
    // From now on `in` has bit `number` while a task is public here (crowd, in team.hpp).
    void show_in(worker_bits &in, unsigned number) noexcept {
        shown_in_ = &in;
        shown_as_ = number;
    }

    public_words runnable() const noexcept { return {home_, runnable_offsets}; }
    public_words pinned() const noexcept { return {home_, pinned_offsets}; }

    // Any thread ------------------------------------------------------------------------------------------------------------

    // Sets the bit of a task that may be claimed.
    void post(const task *t, bool to_pinned) noexcept {
        FULT_ASSERT((bit_of(slot_of(t)) & usable_slots) != 0, "the first slot of a word is never used");
        (to_pinned ? pinned() : runnable()).set_slot(slot_of(t));
        if (!to_pinned)
            show();
    }
    // After a task has become visible to thieves.
    void show() const noexcept {
        if (shown_in_)
            shown_in_->add(shown_as_);
    }

    // Makes a busy task claimable and sets its bit. The task may run and end from then on.
    void make_claimable(task *t, bool only_home) noexcept {
        FULT_ASSERT(home_of(t) == home_, "a task has one home");
        set_claimable(*t, only_home ? ready_pinned : ready);
        post(t, only_home);
    }

    // The home claims a task from its public (or pinned) words. Returns nullptr if there is none. `started`:
    // only a task that has a stack, for when no more stacks can be allocated. `gather`: no worker searches,
    // so all tasks of a word may become private at once.
    task *take_public(bool started = false, bool gather = false) noexcept;
    task *take_pinned(bool started = false) noexcept {
        return may_have_pinned() ? take_from<false>(pinned(), !breadth_first_, wanted_if(started), 0).found
                                 : nullptr;
    }

    // The home claims the next public (or pinned) task of a sweep that reaches each of them in turn.
    task *take_public_in_turn(wanted what = wanted::any) noexcept {
        return take_in_turn(runnable(), public_turn_, what);
    }
    task *take_pinned_in_turn() noexcept { return take_in_turn(pinned(), pinned_turn_, wanted::any); }

    // Of a claim among public tasks: the task, or nullptr; then the slot from which to go on if there were
    // too many that the taker does not want, or 0 at the end.
    struct taken {
        task *found = nullptr;
        std::uint32_t next = 0;
        bool forwarded = false; // a task that only the home may run: its bit is in the pinned words now
        bool passed_over = false;
    };

    // A thief claims the oldest task that it may start in the slots from `least` on, or the newest of all.
    taken steal(wanted what, std::uint32_t least = 0, bool newest = false) noexcept;

    // Moves the oldest word of private tasks to the public words, for a worker that reaches no scheduling
    // point. Returns the number of tasks.
    unsigned revoke() noexcept;

    bool may_have_public() const noexcept { return runnable().any(); }
    bool may_have_pinned() const noexcept { return pinned().any(); }
    // Of tasks that have been taken since: both are exact then, but for what other threads do.
    void clear_stale_hints() const noexcept;
    // Reads the bits themselves: the trees keep words that have become empty, and revoking those would
    // interrupt their owner without need.
    bool may_have_private() const noexcept { return any_bits(ready_turn_) || any_bits(yielded_turn_); }

    // Records that a slot of this word is in use, for the inspector. The caller holds the slot's allocator.
    void mark_used(std::uint32_t word) noexcept {
        std::atomic<std::uint32_t> &end = word < half_words ? lines_ : upper_lines_;
        const std::uint32_t line = word % half_words / words_in_line;
        if (line >= end.load(std::memory_order_relaxed))
            end.store(line + 1, std::memory_order_relaxed);
    }

    // For the inspector: the number of words of a half that were ever in use, and whether a task that is
    // unstarted, or has yielded, is private. Both may be outdated.
    std::uint32_t words_used(bool upper) const noexcept {
        return (upper ? upper_lines_ : lines_).load(std::memory_order_relaxed) * words_in_line;
    }
    const void *address_of_words_used(bool upper) const noexcept { return upper ? &upper_lines_ : &lines_; }
    bool is_private(std::uint32_t slot, bool started) const noexcept {
        const slot_word &word = words_[slot >> 6];
        if ((word.moved.load(std::memory_order_relaxed) & bit_of(slot)) != 0)
            return false;
        return started ? (word.yielded.load(std::memory_order_relaxed) & bit_of(slot)) != 0
                       : bytes_[slot].load(std::memory_order_acquire) != 0; // acquire: pairs with spawn
    }

    // The owner -------------------------------------------------------------------------------------------------------------

    // Sets the private bit of an unstarted task (add_ready) or of a task that yielded (add_yielded).
    void add_ready(task *t) noexcept;
    // Returns true if work was requested: the caller publishes some, as the next task may compute.
    bool add_yielded(task *t) noexcept {
        const std::uint32_t w = slot_of(t) >> 6;
        reconcile_if_revoked();
        check_becomes_private(t, true);
        yielded_turn_.words.insert(w);
        // release: a thief that revokes the bit resumes the context
        words_[w].yielded.store(words_[w].yielded.load(std::memory_order_relaxed) | bit_of(slot_of(t)),
                                std::memory_order_release);
        owner_barrier();
        const std::uint32_t requests = home_->request_flags.load(std::memory_order_relaxed);
        if ((requests & (revoked | work_requested)) == 0) [[likely]]
            return false;
        if (requests & revoked)
            reconcile(w);
        return (requests & work_requested) != 0;
    }

    // The word that spawn fills is always searched.
    void set_current_word(std::uint32_t word) noexcept {
        FULT_ASSERT(word < half_words, "only the lower half has private words");
        current_word_ = word;
        ready_turn_.words.insert(word);
        mark_used(word);
    }

    // take_ready: the newest unstarted private task (the oldest with breadth_first). take_ready_in_turn: the
    // next in a sweep over these. take_yielded_in_turn: the next in a sweep over the yielded tasks.
    task *take_ready() noexcept;
    // False if take_ready and take_yielded_in_turn will find nothing.
    bool may_have_ready() const noexcept {
        return !ready_turn_.words.holds_only(current_word_) ||
               !line_is_zero(bytes_ + std::size_t{current_word_} * 64);
    }
    bool may_have_yielded() const noexcept { return !yielded_turn_.words.empty(); }
    task *take_ready_in_turn() noexcept { return take_in_turn(ready_turn_); }
    task *take_yielded_in_turn() noexcept { return take_in_turn(yielded_turn_); }
    // For a selective worker: of the newest few, and of some in the sweep, one that it may start.
    task *take_startable() noexcept;

    // Fast path of take_yielded_in_turn(); nullptr is inconclusive.
    FULT_ALWAYS_INLINE task *take_yielded_at_turn() noexcept {
        sweep &s = yielded_turn_;
        const std::uint64_t bits = yielded_bits(s.word);
        if ((bits & s.left) == 0) {
            if (!s.words.holds_only(s.word))
                return nullptr;
            s.left = ~std::uint64_t{0}; // the only word: start at its top again
        }
        return (bits & s.left) != 0 ? take_at_turn(s, bits & s.left) : nullptr;
    }

    // Takes the task of this slot if it has yielded and is still private.
    task *take_yielded(std::uint32_t slot) noexcept {
        const std::uint64_t bit = bit_of(slot);
        if ((yielded_bits(slot >> 6) & bit) == 0 || remove_private(slot >> 6, bit) == 0)
            return nullptr;
        return tasks_ + slot;
    }

    // Prefetches what a switch to a suspended task touches: its descriptor, the saved registers, and the
    // frames above the gap that call_that_jumps_back leaves. A thief may be about to run the task: then the
    // prefetch is useless but harmless, and is hidden from TSan.
    static void prefetch([[maybe_unused]] const task *t) noexcept {
#if !defined(FULT_TSAN)
        const auto *saved = static_cast<const std::byte *>(t->context);
        __builtin_prefetch(saved, 1);
        for (std::size_t line = 3; line <= 5; ++line)
            __builtin_prefetch(saved + line * cache_line, 1);
#endif
    }

    // Moves the oldest private tasks to the public words. Returns the number of tasks.
    unsigned publish() noexcept;

    // Clears the private bits that thieves have revoked. Returns those of one word.
    std::uint64_t reconcile(std::uint32_t word) noexcept;

    // Called before a private bit is set, and before a slot is used again. The bit of the same slot may still
    // be set and marked as revoked in `moved`: its task came back to this worker through public words or a
    // hand-off. A reconciliation after the new bit was set would take it for the old one (NO_RECONCILE_SET in
    // tests/model/revoke.pml).
    void reconcile_if_revoked() noexcept {
        if (home_->request_flags.load(std::memory_order_relaxed) & revoked) [[unlikely]]
            reconcile(0);
    }

    // True if any private bit of the kind, or of any kind, is set. Called by the owner, or while it is
    // stopped.
    bool any_unstarted() noexcept { return may_have_ready() && next_above(ready_turn_, 0) >= 0; }
    bool any_yielded() noexcept {
        return yielded_bits(yielded_turn_.word) != 0 ||
               (may_have_yielded() && next_above(yielded_turn_, 0) >= 0);
    }
    bool any_private() noexcept { return any_unstarted() || any_yielded(); }

  private:
    // The words that may have private bits of one kind, and the position of a sweep over them.
    struct sweep {
        bit_tree<half_words> words;
        bool resumable;
        std::uint32_t word = 0;
        std::uint64_t left = 0; // bits of the word that the sweep has not passed
    };

    std::uint64_t ready_bits(std::uint32_t word) const noexcept;
    std::uint64_t yielded_bits(std::uint32_t word) const noexcept {
        return words_[word].yielded.load(
            std::memory_order_acquire); // acquire, for a thief: pairs with add_yielded
    }
    std::uint64_t bits_of(const sweep &s, std::uint32_t word) const noexcept {
        return s.resumable ? yielded_bits(word) : ready_bits(word);
    }
    bool any_bits(const sweep &s) const noexcept {
        for (int w = s.words.lowest(); w >= 0; w = s.words.at_least(static_cast<std::uint32_t>(w) + 1))
            if (bits_of(s, static_cast<std::uint32_t>(w)) != 0)
                return true;
        return false;
    }
    int next_above(sweep &s, int word) noexcept;
    int next_below(sweep &s, int word, std::uint64_t &bits) noexcept;
    task *take_at_turn(sweep &s, std::uint64_t left) noexcept {
        const unsigned b = breadth_first_ ? static_cast<unsigned>(std::countr_zero(left))
                                          : static_cast<unsigned>(63 - std::countl_zero(left));
        const std::uint64_t bit = std::uint64_t{1} << b;
        s.left = breadth_first_ ? ~(bit | (bit - 1)) : bit - 1;
        if (const std::uint64_t rest = left & s.left; rest != 0)
            prefetch(task_at(s.word, static_cast<unsigned>(63 - std::countl_zero(rest))));
        return remove_private(s.word, bit) != 0 ? task_at(s.word, b) : nullptr;
    }
    task *take_in_turn(sweep &s) noexcept;
    unsigned publish(sweep &s) noexcept;
    unsigned move_oldest(const sweep &s) noexcept;
    task *task_at(std::uint32_t word, unsigned bit) const noexcept { return tasks_ + word * 64 + bit; }
    // If a slot has a bit of either kind, the bit of a yield is the older one: that task has ended, and
    // another has been spawned in its slot.
    void clear_private(std::uint32_t word, std::uint64_t bits) noexcept {
        FULT_ASSERT(word < half_words);
        const std::uint64_t resumable = words_[word].yielded.load(std::memory_order_relaxed);
        if ((resumable & bits) != 0)
            words_[word].yielded.store(resumable & ~bits, std::memory_order_relaxed);
        for (std::uint64_t rest = bits & ~resumable; rest != 0; rest &= rest - 1)
            bytes_[word * 64 + static_cast<unsigned>(std::countr_zero(rest))].store(
                0, std::memory_order_relaxed);
    }

    // Clears private bits. Returns those that had not been revoked.
    std::uint64_t remove_private(std::uint32_t word, std::uint64_t bits) noexcept {
        clear_private(word, bits);
        owner_barrier();
        if (home_->request_flags.load(std::memory_order_relaxed) & revoked) [[unlikely]]
            bits &= ~reconcile(word);
        return bits;
    }
    void put_back(task *chain) noexcept;
    // The invariant of a private bit (tests/model/revoke.pml): it is the only bit of a busy task of this
    // worker's half, which has a context if and only if it yielded. Called before the bit is set.
    void check_becomes_private([[maybe_unused]] const task *t, [[maybe_unused]] bool started) const noexcept {
        FULT_ASSERT(home_of(t) == home_ && slot_of(t) < half_slots,
                    "only an owner's slots have private bits");
        FULT_ASSERT(t->state.load(std::memory_order_relaxed) == busy, "a private task is not claimable");
        FULT_ASSERT((t->context != nullptr) == started);
        FULT_ASSERT(!is_private(slot_of(t), started), "a private bit that is being set is not set yet");
    }
    void take_over(task *t) noexcept;
    task *take_where_last() noexcept;
    unsigned make_bits_claimable(std::uint32_t word, std::uint64_t bits) noexcept;
    static wanted wanted_if(bool started) noexcept { return started ? wanted::started : wanted::any; }
    template <bool by_thief>
    taken take_from(const public_words &from, bool newest, wanted what, std::uint32_t least) noexcept;
    task *take_in_turn(const public_words &from, std::uint32_t &turn, wanted what) noexcept;
    task *take_newest_startable(unsigned most) noexcept;
    template <class Visit>
    bool scan(const public_words &from, bool descending, const Visit &visit) const noexcept;
    void announce_again(const public_words &restored) const noexcept;

    worker_hot *home_ = nullptr;
    slot_word *words_ = nullptr;
    ready_byte *bytes_ = nullptr;
    task *tasks_ = nullptr;
    bool breadth_first_ = false;
    worker_bits *shown_in_ = nullptr;
    unsigned shown_as_ = 0;
    std::uint32_t current_word_ = 0;
    sweep ready_turn_{{}, false}, yielded_turn_{{}, true};
    std::uint32_t public_turn_ = 0,
                  pinned_turn_ = 0; // the slots taken last by the sweeps over the public words

    std::uint32_t last_public_ = 0; // the word in which take_public found a task last

    std::atomic<std::uint32_t> lines_{0}, upper_lines_{0}; // lines of words in use in the two halves

    spin_lock revoking_;
    std::uint32_t moved_first_ = ~0u, moved_last_ = 0; // range of words with revoked bits; under the lock
};

} // namespace fult::detail
