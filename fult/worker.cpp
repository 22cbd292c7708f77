#include "worker.hpp"

#include <bit>
#include <cerrno>
#include <cxxabi.h>
#include <new>
#include <pthread.h>
#include <string>
#include <system_error>
#include <utility>

#include <fult/detail/fast_path.hpp>

#include "fork_guard.hpp"
#include "option_table.hpp"
#include "sanitizer.hpp"
#include "unwind.hpp"
#include "virtual_memory.hpp"

// What a foreign thread's fast paths find: no free slot, and a stack that is always too low, so that they
// take the slow ones.
constinit fult::detail::worker_hot fult::detail::no_worker{.even_line_ = {},
                                                           .run = {},
                                                           .current = nullptr,
                                                           .stack_limit = ~std::uintptr_t{0},
                                                           .known = nullptr,
                                                           .another_even_line_ = {},
                                                           .attention = {0}};

constinit const fult::detail::local_values fult::detail::no_locals{};

extern "C" {
__attribute__((used)) __thread fult::detail::worker_hot *fult_tls_worker = &fult::detail::no_worker;
__attribute__((used)) __thread const fult::detail::local_values *fult_tls_locals = &fult::detail::no_locals;
}

namespace fult::detail {
namespace {

constexpr std::size_t sites_bytes = std::size_t{max_slots} * worker::site_frames * sizeof(void *);
constexpr std::size_t words_bytes = std::size_t{96} << 20; // worker, hints and words: below tasks_offset
static_assert(slot_words_offset + (max_slots / 64) * sizeof(slot_word) <= ready_bytes_offset);
static_assert(ready_bytes_offset + max_slots <= words_bytes);
static_assert(sizeof(worker) <= 0x10'0000, "the worker lies in the first mebibyte of its home");

// The slots of the last word of each half of a home.
static_assert(most_tasks == slots_in_word * half_words);
constexpr std::uint64_t last_slots_for(std::size_t max_tasks) noexcept {
    const std::size_t without = words_for(max_tasks) * slots_in_word - max_tasks;
    return usable_slots & (~std::uint64_t{0} >> without);
}

// What is stored for 64 slots: the descriptors, and a piece of each of these arrays.
struct array {
    std::uintptr_t begin;
    std::size_t bytes_a_word;
};
constexpr array arrays[] = {
    {runnable_place.words, sizeof(shared_word)},   {pinned_place.words, sizeof(shared_word)},
    {returned_place.words, sizeof(shared_word)},   {slot_words_offset, sizeof(slot_word)},
    {ready_bytes_offset, 64 * sizeof(ready_byte)}, {tasks_offset, 64 * sizeof(task)},
};
constexpr std::size_t head_bytes = std::size_t{2} << 20; // the worker and its hints
static_assert(returned_place.summary + 0x1000 <= head_bytes && head_bytes <= runnable_place.words);

bool make_pages_usable(std::byte *begin, std::size_t bytes) noexcept {
    const std::size_t before = reinterpret_cast<std::uintptr_t>(begin) % page_size();
    return make_usable(begin - before, bytes + before);
}

// Only what max_tasks needs: tools that keep books on memory (Valgrind) take long for each page they hear of.
bool make_home_usable(std::byte *home, std::size_t max_tasks) noexcept {
    const std::size_t words = words_for(max_tasks);
    // Few tasks stay on small pages; many are walked through in order, and would miss the translation of each
    // page.
    constexpr std::size_t few = std::size_t{2} << 20;
    if (words * 64 * sizeof(task) > few)
        prefer_huge_pages(home + tasks_offset + few, words * 64 * sizeof(task) - few);
    if (words == half_words)
        return make_usable(home, words_bytes) && make_usable(home + tasks_offset, max_slots * sizeof(task));
    bool done = make_usable(home, head_bytes);
    for (const array &each : arrays)
        for (const std::size_t half : {std::size_t{0}, std::size_t{half_words}})
            done = done &&
                   make_pages_usable(home + each.begin + half * each.bytes_a_word, words * each.bytes_a_word);
    return done;
}

} // namespace

worker::worker(team &owner, unsigned number) noexcept
    : crew(owner), index(number), toured_(other_after(number)), suspect_(toured_), random_(number + 1) {
    const auto limit = static_cast<std::uint32_t>(words_for(owner.opts.max_tasks));
    // Where it is to be told who spawned what, the fast path finds no run and each spawn comes to the slow
    // one.
    const std::uint64_t last = last_slots_for(owner.opts.max_tasks);
    slots_.open(this, owner.private_words && !owner.opts.spawn_sites ? &run : &hidden_run_, 0, limit, last);
    shared_slots_.open(this, &shared_run_, half_words, limit, last);
    tasks.open(this, owner.opts);
    tasks.note_used(half_words);
}

worker *worker::create(team &owner, unsigned index) {
    const auto lacks = [&](int error, const std::string &what) {
        throw std::system_error(error, std::generic_category(),
                                "fult: no " + what + " (" + std::to_string(index + 1) + " of " +
                                    std::to_string(owner.count + 1) + "; one is for foreign threads)");
    };
    auto *home = static_cast<std::byte *>(reserve_aligned(home_size, home_size));
    if (!home)
        lacks(errno,
              "address space for a table of tasks, which takes 4 GiB whatever FULT_MAX_TASKS is, and twice "
              "that for a moment; raise `ulimit -v`, or lower FULT_WORKERS");
    if (!make_home_usable(home, owner.opts.max_tasks)) {
        const int error = errno;
        unmap_pages(home, home_size);
        lacks(error,
              "memory for a table of tasks; raise `ulimit -d`, allow overcommitment, or lower FULT_MAX_TASKS "
              "or FULT_WORKERS");
    }
    auto *made = ::new (home) worker(owner, index);
    if (owner.opts.spawn_sites)
        made->sites_ = static_cast<std::atomic<void *> *>(map_pages(sites_bytes));
    return made;
}

void worker::destroy(worker *w) noexcept {
    w->crew.stacks.release(w->stacks_);
    if (w->base_pooled_)
        w->crew.stacks.release(w->base_pooled_);
    if (w->sites_)
        unmap_pages(w->sites_, sites_bytes);
    w->~worker();
    unmap_pages(w, home_size);
}

void worker::enter_thread() {
    errno_ = &errno;
    exceptions_ = reinterpret_cast<exceptions_in_flight *>(abi::__cxa_get_globals());
    pthread_attr_t attributes;
    void *low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    base_stack_.base = static_cast<std::byte *>(low);
    base_stack_.size = size;
    base_stack_.kernel_threads = true;
    base_stack_.fiber = sanitizer::fiber_current();
    here_ = &base_stack_;
    fult_tls_worker = this;
}

void worker::leave_thread() noexcept { fult_tls_worker = &no_worker; }

void worker::set_neighbours(const std::vector<std::vector<unsigned>> &groups) {
    for (const auto &group : groups) {
        victims_.emplace_back();
        for (const unsigned other : group)
            victims_.back().push_back(crew.homes[other]);
    }
}

// Slots -------------------------------------------------------------------------------------------------------------------------

task *worker::take_own_slot() noexcept {
    task *t = slots_.take();
    // A slot that a thief ran and gave back must not look taken back from us when it is used again.
    if (attention.load(std::memory_order_relaxed) & revoked) [[unlikely]]
        tasks.reconcile(0);
    tasks.note_current_word(slots_.current_word());
    return t;
}

task *worker::take_shared_slot() noexcept {
    shared_lock_.lock();
    task *t = shared_slots_.take();
    if (t)
        tasks.note_used(slot_of(t) >> 6);
    shared_lock_.unlock();
    return t;
}

void worker::follow_slot(task *t) noexcept {
    if (slots_.follow(slot_of(t)))
        tasks.note_current_word(slots_.current_word());
}

std::uint64_t worker::living() noexcept {
    shared_lock_.lock();
    const std::uint64_t shared = shared_slots_.taken();
    shared_lock_.unlock();
    return slots_.taken() + shared;
}

std::uint64_t worker::ended() noexcept {
    shared_lock_.lock();
    const std::uint64_t shared = shared_slots_.ended();
    shared_lock_.unlock();
    return slots_.ended() + shared;
}

void worker::set_extras(task *t, std::unique_ptr<task_extras> extras) noexcept {
    extras_lock_.lock();
    const std::unique_ptr<task_extras> before(std::exchange(t->extras, extras.release()));
    extras_lock_.unlock();
    forget_locals(current_worker()); // perhaps t runs here
}

// Plain words of the owner are looked at from elsewhere. A living task's bit is 0 whenever they change; where
// the run stands is known for sure to the owner alone.
FULT_LOOKED_AT bool worker::is_free(const task *t) const noexcept {
    const std::uint32_t slot = slot_of(t);
    const public_words returned(this, returned_place);
    auto *self = const_cast<worker *>(this);
    const volatile std::uint64_t &free = slot_words(self)[slot >> 6].free;
    if ((free & bit_of(slot)) != 0 || returned.contains(slot))
        return true;
    return this == this_worker() && t >= run.next && t < run.end;
}

void worker::note_site(const task *t) noexcept {
    if (!sites_)
        return;
    void *frames[site_frames];
    const std::size_t count = frames_here(frames, 1); // without the library's function that calls this
    std::atomic<void *> *site = sites_ + std::size_t{slot_of(t)} * site_frames;
    for (std::size_t i = 0; i < site_frames; ++i)
        site[i].store(i < count ? frames[i] : nullptr, std::memory_order_relaxed);
}

std::size_t worker::site_of(const task *t, std::span<void *> into) const noexcept {
    std::size_t count = 0;
    for (; sites_ && count < into.size() && count < site_frames; ++count)
        if (!(into[count] =
                  sites_[std::size_t{slot_of(t)} * site_frames + count].load(std::memory_order_relaxed)))
            break;
    return count;
}

// Ready tasks -------------------------------------------------------------------------------------------------------------------

void worker::make_ready(task *t) noexcept {
    worker *w = this_worker();
    if (w == this && crew.private_words && slot_of(t) < half_slots && !t->pinned && !t->extras) {
        tasks.add_ready(t);
        if (attention.load(std::memory_order_relaxed) != 0)
            attend(this);
        return;
    }
    check_not_forked();
    const bool only_home = t->pinned;
    tasks.show(t, only_home);
    crew.wake_for(*this, only_home);
}

task *worker::pick_otherwise(bool yielding) noexcept {
    task *t = nullptr;
    // A hand-over is short, and comes first but for every 32nd decision: the hungry wait for that at most.
    const bool fair = is_fair_turn();
    if (!fair && (t = take_handed())) {
        tick();
        return t;
    }
    if (attention.load(std::memory_order_relaxed) != 0) [[unlikely]]
        attend(this);
    tick();
    if (fair && crew.outside.any()) [[unlikely]]
        crew.outside.poll();
    if (crew.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        if ((!fair || !crew.ends_shortage()) && (t = pick_started(fair)))
            return t;
    if (fair && ((t = pick_for_fairness()) || (t = take_handed())))
        return t;
    if (!yielding && tasks.may_have_ready() && (t = tasks.take_ready()))
        return t;
    if (tasks.may_have_yielded() &&
        ((t = tasks.take_yielded_at_turn()) || (t = tasks.take_yielded_in_turn())))
        return t;
    if (yielding && tasks.may_have_ready() && (t = tasks.take_ready()))
        return t;
    const bool gather = crew.private_words && attention.load(std::memory_order_relaxed) == 0 &&
                        (crew.alone || crew.searching.load(std::memory_order_relaxed) == 0);
    t = tasks.take_public(false, gather);
    if (gather && (attention.load(std::memory_order_relaxed) & hungry) != 0) [[unlikely]] {
        feed(); // asked while the gathered tasks were nowhere to be seen
        if (tasks.seems_public()) // some have become public again
            crew.wake_for(*this, false);
    }
    return t;
}

// Those that have a stack come first where no more can be had: they end, and free theirs. Those that were
// signaled have their turn among those that yield.
task *worker::pick_started(bool fair) noexcept {
    task *t = fair ? tasks.take_public(true) : nullptr;
    if (!t)
        t = tasks.take_yielded_in_turn();
    return t || fair ? t : tasks.take_public(true);
}

bool worker::has_work() noexcept { return has_own_work() || tasks.seems_public() || tasks.seems_pinned(); }

// Handing over ----------------------------------------------------------------------------------------------------------------

// A signal sets a bit at the task's home, wherever that is; these take the task itself, so that it goes on
// here, where what the caller wrote is in the cache. To who looks for work the chain is one more public word:
// pushed by an atomic operation before the look at the sleepers, and looked at by who falls asleep.
// Where it has not parked yet it keeps the signal: a bit would make another worker run it for nothing.
task *worker::claim_or_signal(task_id who) noexcept {
    task *t = to_task(who);
    auto *home = static_cast<worker *>(home_of(t));
    if ((who.value() & 1) != 0 || (crew.alone && home != this)) {
        post_signal(who);
        return nullptr;
    }
    switch (claim(*t, false)) {
    case claim_outcome::ours:
        return t;
    case claim_outcome::pinned: // a signal's bit might be found by a thief first
        home->tasks.post(t, true);
        if (home != this)
            crew.wake_for(*home, true);
        break;
    case claim_outcome::not_now:
        break;
    }
    return nullptr;
}

void worker::hand(task *first, task *last) noexcept {
    task *below = handed_.load(std::memory_order_relaxed);
    if (is_kept(below)) {
        task *mine = below;
        below = nullptr;
        if (handed_.compare_exchange_strong(mine, nullptr,
                                            std::memory_order_acq_rel)) // pairs with steal_handed
            if (task *heir = pass_on(*this, mine)) {
                heir->next.store(nullptr, std::memory_order_relaxed);
                last->next.store(heir, std::memory_order_relaxed);
                last = heir;
            }
    }
    do
        last->next.store(below, std::memory_order_relaxed);
    while (
        !handed_.compare_exchange_weak(below, first, std::memory_order_seq_cst)); // pairs with steal_handed
    tell_handed();
}

bool worker::keep(void *lock, pass_on_function pass_on) noexcept {
    task *nothing = handed_.load(std::memory_order_relaxed);
    if (nothing || (crew.alone && crew.count > 1)) // the next owner may be another worker's
        return false;
    pass_on_.store(pass_on, std::memory_order_relaxed);
    if (!handed_.compare_exchange_strong(nothing, kept(lock), std::memory_order_seq_cst))
        return false;
    tell_handed();
    return true;
}

bool worker::take_back(const void *lock) noexcept {
    task *mine = handed_.load(std::memory_order_relaxed);
    return mine == kept(lock) && handed_.compare_exchange_strong(
                                     mine, nullptr, std::memory_order_acq_rel); // pairs with steal_handed
}

task *worker::pass_on(const worker &from, const task *what) noexcept {
    auto *lock = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(what) & ~std::uintptr_t{1});
    return from.pass_on_.load(std::memory_order_relaxed)(lock, *this);
}

void worker::tell_handed() noexcept {
    hands_.store(hands_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // Who dozes looks soon: to wake it for each hand-over would cost more than the hand-over.
    if (crew.asleep.any() && crew.dozing.load(std::memory_order_seq_cst) == 0) // pairs with nap
        crew.wake_for(*this, false);
}

// The newest. That it is still the first one means that nothing was taken: only this worker pushes.
task *worker::take_handed() noexcept {
    task *first = handed_.load(std::memory_order_acquire), *below = nullptr;
    while (first && !handed_.compare_exchange_weak(
                        first, below = is_kept(first) ? nullptr : first->next.load(std::memory_order_relaxed),
                        std::memory_order_acq_rel)) // pairs with steal_handed
        ;
    if (is_kept(first))
        return pass_on(*this, first);
    if (first && below)
        ready_set::prefetch(below);
    return first;
}

// The rest of a chain that this worker has taken from another.
void worker::take_over_handed(task *chain) noexcept {
    if (!handed_.load(std::memory_order_relaxed)) {
        handed_.store(chain, std::memory_order_seq_cst); // only this worker pushes
        crew.wake_for(*this, false);
        return;
    }
    task *last = chain;
    while (task *below = last->next.load(std::memory_order_relaxed))
        last = below;
    hand(chain, last);
}

// What lies first in a worker's chain since this thief's last look; the rest is handed to the thief itself.
// Where it is another task, the next worker is watched: chains that are in motion do not hide one that
// stands.
task *worker::steal_handed() noexcept {
    std::atomic<task *> &chain = crew.homes[watched_]->handed_;
    if (watched_first_ && crew.homes[watched_]->hands_.load(std::memory_order_relaxed) == watched_hands_ &&
        chain.load(std::memory_order_acquire) == watched_first_)
        if (task *first =
                chain.exchange(nullptr, std::memory_order_acq_rel)) { // pairs with hand and take_handed
            watched_first_ = nullptr;
            if (is_kept(first))
                return pass_on(*crew.homes[watched_], first);
            if (task *rest = first->next.load(std::memory_order_relaxed))
                take_over_handed(rest);
            return first;
        }
    watched_first_ = nullptr;
    for (unsigned i = 0; i < crew.count && !watched_first_; ++i) {
        watched_ = (watched_ + 1) % crew.count;
        watched_first_ = crew.homes[watched_]->handed_.load(std::memory_order_acquire);
        watched_hands_ = crew.homes[watched_]->hands_.load(std::memory_order_relaxed);
    }
    return nullptr;
}

bool worker::took_signal(task *self) noexcept {
    if (self->token.load(std::memory_order_relaxed) != 0 &&
        self->token.exchange(0, std::memory_order_seq_cst) != 0) // pairs with claim
        return true;
    const public_words words = self->pinned ? static_cast<worker *>(home_of(self))->tasks.pinned()
                                            : static_cast<worker *>(home_of(self))->tasks.runnable();
    const std::uint32_t slot = slot_of(self);
    return words.contains(slot) && words.take(slot >> 6, bit_of(slot)) != 0;
}

void worker::feed() noexcept {
    if (tasks.publish() == 0)
        return; // nothing to give: the request stands
    attention.fetch_and(~std::uint32_t{hungry}, std::memory_order_seq_cst); // pairs with ask_for_work and nap
    if (crew.asleep.any() && crew.searching.load(std::memory_order_seq_cst) == 0)
        crew.wake_one(index);
}

// A worker that watched its own words goes to run something else. Signalers that saw it looking woke nobody,
// so where somebody sleeps it looks once more for what they brought. Whoever falls asleep afterwards makes
// our store visible by its own fence, before its own last look (nap; WATCH in tests/model/sleep.pml).
void worker::stop_looking() noexcept {
    if (crew.private_words) {
        looking.store(0, std::memory_order_relaxed);
        owner_barrier();
        if (!crew.asleep.any())
            return;
    }
    looking.exchange(0, std::memory_order_seq_cst); // pairs with wake_for
    if (crew.asleep.any() && tasks.seems_public())
        crew.wake_one(index);
}

// Waking ------------------------------------------------------------------------------------------------------------------------

void team::wake(unsigned target) noexcept {
    if (asleep.remove(target))
        homes[target]->sleep.post();
}

void team::wake_one(unsigned near) noexcept {
    if (const int target = asleep.remove_any(near); target >= 0)
        homes[static_cast<unsigned>(target)]->sleep.post();
}

void team::wake_for(const worker &home, bool only_home) noexcept {
    if (!asleep.any()) // after the caller's OR
        return;
    if (home.index < count) {
        if (asleep.remove(home.index)) {
            homes[home.index]->sleep.post();
            return;
        }
        if (only_home || alone ||
            home.looking.load(std::memory_order_seq_cst) != 0) // pairs with stop_looking
            return;
    }
    if (searching.load(std::memory_order_seq_cst) != 0) // pairs with search
        return;
    wake_one(home.index);
}

} // namespace fult::detail
