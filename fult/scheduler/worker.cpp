#include "worker.hpp"

#include <bit>
#include <cerrno>
#include <cxxabi.h>
#include <new>
#include <pthread.h>
#include <string>
#include <system_error>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "fult/base/option_table.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/base/unwind.hpp"
#include "fult/engine/fork_guard.hpp"
#include "fult/memory/virtual_memory.hpp"

// The values seen by the fast paths on a foreign thread: no free slot, and a stack that is always too low.
// Foreign threads therefore take the slow paths.
constinit fult::detail::worker_hot fult::detail::no_worker{.even_line_ = {},
                                                           .run = {},
                                                           .current = nullptr,
                                                           .stack_limit = ~std::uintptr_t{0},
                                                           .locals_cache = nullptr,
                                                           .another_even_line_ = {},
                                                           .request_flags = {0}};

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
static_assert(sizeof(worker) <= 0x10'0000, "the worker must fit into the first mebibyte of its home");

// The usable slots of the last word in each half of a home.
static_assert(most_tasks == slots_in_word * half_words);
constexpr std::uint64_t last_slots_for(std::size_t max_tasks) noexcept {
    const std::size_t without = words_for(max_tasks) * slots_in_word - max_tasks;
    return usable_slots & (~std::uint64_t{0} >> without);
}

// Storage per 64 slots: the descriptors and a part of each of these arrays.
struct array {
    std::uintptr_t begin;
    std::size_t bytes_a_word;
};
constexpr array arrays[] = {
    {runnable_offsets.words, sizeof(shared_word)}, {pinned_offsets.words, sizeof(shared_word)},
    {returned_offsets.words, sizeof(shared_word)}, {slot_words_offset, sizeof(slot_word)},
    {ready_bytes_offset, 64 * sizeof(ready_byte)}, {tasks_offset, 64 * sizeof(task)},
};
constexpr std::size_t head_bytes = std::size_t{2} << 20; // the worker and its hints
static_assert(returned_offsets.summary + 0x1000 <= head_bytes && head_bytes <= runnable_offsets.words);

bool make_pages_usable(std::byte *begin, std::size_t bytes) noexcept {
    const std::size_t before = address_of(begin) % page_size();
    return make_usable(begin - before, bytes + before);
}

// Makes only as much usable as max_tasks needs: memory checkers (Valgrind) take long for each page.
bool make_home_usable(std::byte *home, std::size_t max_tasks) noexcept {
    const std::size_t words = words_for(max_tasks);
    // Few tasks stay on small pages. Many tasks are traversed in order and would miss the TLB for each page.
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

// The state of a descriptor between two uses of its slot, for assertions.
[[maybe_unused]] bool is_unused(const task *t) noexcept {
    return t->state.load(std::memory_order_relaxed) == busy && !t->context && !t->extras && !t->pinned &&
           t->join.load(std::memory_order_relaxed) == join_none && t->result == result_kind::none;
}

// The state of a task in a chain of handed-off tasks, for assertions.
[[maybe_unused]] bool is_handed_off(const task &t) noexcept {
    return t.state.load(std::memory_order_relaxed) == busy && t.context && !t.pinned;
}

} // namespace

worker::worker(worker_team &owner, unsigned number) noexcept
    : team(owner),
      index(number),
      swept_victim_(other_after(number)),
      hidden_victim_(swept_victim_),
      random_(number + 1) {
    const auto limit = static_cast<std::uint32_t>(words_for(owner.opts.max_tasks));
    // With spawn_sites on, hide the slot run so that every spawn takes the slow path.
    const std::uint64_t last = last_slots_for(owner.opts.max_tasks);
    slots_.open(this, owner.private_words && !owner.opts.spawn_sites ? &run : &hidden_run_, 0, limit, last);
    shared_slots_.open(this, &shared_run_, half_words, limit, last);
    tasks.open(this, owner.opts);
    tasks.mark_used(half_words);
}

worker *worker::create(worker_team &owner, unsigned index) {
    const auto lacks = [&](int error, const std::string &what) {
        throw std::system_error(error, std::generic_category(),
                                "fult: no " + what + " (" + std::to_string(index + 1) + " of " +
                                    std::to_string(owner.count + 1) + "; one is for foreign threads)");
    };
    auto *home = static_cast<std::byte *>(reserve_aligned(home_size, home_size));
    if (!home)
        lacks(errno, "address space for a table of tasks, which needs 4 GiB whatever FULT_MAX_TASKS is, and "
                     "temporarily twice that; raise `ulimit -v`, or lower FULT_WORKERS");
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
    w->team.stacks.release(w->stacks_);
    if (w->scheduler_stack_)
        w->team.stacks.release(w->scheduler_stack_);
    if (w->sites_)
        unmap_pages(w->sites_, sites_bytes);
    w->~worker();
    unmap_pages(w, home_size);
}

void worker::enter_thread() {
    FULT_ASSERT(this_worker() == nullptr, "a thread has one worker");
    errno_ = &errno;
    exceptions_ = reinterpret_cast<exceptions_in_flight *>(abi::__cxa_get_globals());
    pthread_attr_t attributes;
    void *low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    thread_stack_.base = static_cast<std::byte *>(low);
    thread_stack_.size = size;
    thread_stack_.kernel_threads = true;
    thread_stack_.fiber = sanitizer::fiber_current();
    current_stack_ = &thread_stack_;
    fult_tls_worker = this;
}

void worker::leave_thread() noexcept { fult_tls_worker = &no_worker; }

void worker::set_neighbours(const std::vector<std::vector<unsigned>> &groups) {
    for (const auto &group : groups) {
        victims_.emplace_back();
        for (const unsigned other : group)
            victims_.back().push_back(team.homes[other]);
    }
}

// Slots -------------------------------------------------------------------------------------------------------------------------

task *worker::take_own_slot() noexcept {
    FULT_ASSERT(this_worker() == this, "private slots are the worker's own");
    task *t = slots_.take();
    FULT_ASSERT(!t || is_unused(t));
    // A slot that a thief ran and freed must not appear revoked when it is used again.
    if (request_flags.load(std::memory_order_relaxed) & revoked) [[unlikely]]
        tasks.reconcile(0);
    tasks.set_current_word(slots_.current_word());
    return t;
}

task *worker::take_shared_slot() noexcept {
    shared_lock_.lock();
    task *t = shared_slots_.take();
    FULT_ASSERT(!t || (is_unused(t) && slot_of(t) >= half_slots));
    if (t)
        tasks.mark_used(slot_of(t) >> 6);
    shared_lock_.unlock();
    return t;
}

void worker::follow_slot(task *t) noexcept {
    FULT_ASSERT(this_worker() == this);
    if (slots_.follow(slot_of(t)))
        tasks.set_current_word(slots_.current_word());
}

void worker::begin_apart() noexcept {
    slots_.begin_apart();
    tasks.set_current_word(slots_.current_word());
}

void worker::return_to(const task *next_slot) noexcept {
    slots_.return_to(next_slot);
    tasks.set_current_word(slots_.current_word());
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
    drop_cached_locals(current_worker()); // t may be running here
}

// Reads plain words of the owner from other threads. The bit of a living task is 0 whenever the word changes.
// Only the owner knows the position of the run.
FULT_RACY_READ bool worker::is_free(const task *t) const noexcept {
    const std::uint32_t slot = slot_of(t);
    const public_words returned(this, returned_offsets);
    auto *self = const_cast<worker *>(this);
    const volatile std::uint64_t &free = slot_words(self)[slot >> 6].free;
    if ((free & bit_of(slot)) != 0 || returned.contains(slot))
        return true;
    return this == this_worker() && t >= run.next && t < run.end;
}

void worker::record_spawn_site(const task *t) noexcept {
    if (!sites_)
        return;
    void *frames[site_frames];
    const std::size_t count = frames_here(frames, 1); // skips the library function that calls this
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
    FULT_ASSERT(home_of(t) == this && !t->context, "a new task belongs to this home");
    worker *w = this_worker();
    if (w == this && team.private_words && slot_of(t) < half_slots && !t->pinned && !t->extras) {
        tasks.add_ready(t);
        if (request_flags.load(std::memory_order_relaxed) != 0)
            poll_requests(this);
        return;
    }
    check_not_forked();
    const bool only_home = t->pinned;
    tasks.make_claimable(t, only_home);
    team.wake_for(*this, only_home);
}

task *worker::pick_otherwise(bool yielding) noexcept {
    FULT_ASSERT(this_worker() == this, "a worker decides for itself");
    task *t = nullptr;
    // Handed-off tasks come first, except in every 32nd decision: that bounds the wait of all other tasks.
    const bool fair = is_fair_turn();
    if (!fair && (t = take_handed_off())) {
        tick();
        return t;
    }
    if (request_flags.load(std::memory_order_relaxed) != 0) [[unlikely]]
        poll_requests(this);
    tick();
    if (fair && team.outside.any()) [[unlikely]]
        team.outside.poll();
    if (team.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        if ((!fair || !team.ends_shortage()) && (t = pick_started(fair)))
            return t;
    if (fair && ((t = pick_for_fairness()) || (t = take_handed_off())))
        return t;
    if (!yielding && !interrupted_.empty() && (t = interrupted_.take(tasks))) [[unlikely]]
        return t;
    if (!yielding && tasks.may_have_ready() && (t = tasks.take_ready()))
        return t;
    if (tasks.may_have_yielded() &&
        ((t = tasks.take_yielded_at_turn()) || (t = tasks.take_yielded_in_turn())))
        return t;
    if (yielding && tasks.may_have_ready() && (t = tasks.take_ready()))
        return t;
    const bool gather = team.private_words && request_flags.load(std::memory_order_relaxed) == 0 &&
                        (team.stealing_disabled || team.searching.load(std::memory_order_relaxed) == 0);
    t = tasks.take_public(false, gather);
    if (gather && (request_flags.load(std::memory_order_relaxed) & work_requested) != 0) [[unlikely]] {
        publish_work();           // work was requested while the gathered tasks were not visible
        if (tasks.seems_public()) // some tasks are public again
            team.wake_for(*this, false);
    }
    return t;
}

// If no stack can be allocated, tasks that have a stack come first: they end and free theirs. Signaled tasks
// take turns with yielding ones.
task *worker::pick_started(bool fair) noexcept {
    task *t = fair ? tasks.take_public(true) : nullptr;
    if (!t)
        t = tasks.take_yielded_in_turn();
    return t || fair ? t : tasks.take_public(true);
}

bool worker::has_work() noexcept { return has_own_work() || tasks.seems_public() || tasks.seems_pinned(); }

// Hand-off ----------------------------------------------------------------------------------------------------------------

// A signal sets a bit at the task's home. A hand-off passes the task itself, so that it runs here, where the
// data that the caller wrote is in the cache. To searching workers the chain acts like one more public word:
// it is pushed by an atomic operation before the sleepers are checked, and it is checked by a worker before
// it parks. If the task has not suspended yet, the signal is kept as a pending wake-up: a bit would make
// another worker claim it without result.
task *worker::claim_or_signal(task_id who) noexcept {
    task *t = to_task(who);
    auto *home = static_cast<worker *>(home_of(t));
    if (is_pinned(who) || (team.stealing_disabled && home != this)) {
        post_signal(who);
        return nullptr;
    }
    switch (claim(*t, false)) {
    case claim_result::ours:
        FULT_ASSERT(t->context && !t->pinned,
                    "a waiting task has a context; a pinned one is not claimed here");
        return t;
    case claim_result::pinned: // a thief might find the bit of a signal first
        home->tasks.post(t, true);
        if (home != this)
            team.wake_for(*home, true);
        break;
    case claim_result::not_now:
        break;
    }
    return nullptr;
}

void worker::hand_off(task *first, task *last) noexcept {
    FULT_ASSERT(this_worker() == this, "only its worker pushes to a chain");
    FULT_ASSERT(is_handed_off(*first) && is_handed_off(*last));
    task *below = handed_off_.load(std::memory_order_relaxed);
    if (is_deferred_lock(below)) {
        task *mine = below;
        below = nullptr;
        if (handed_off_.compare_exchange_strong(mine, nullptr,
                                                std::memory_order_acq_rel)) // pairs with steal_handed_off
            if (task *heir = transfer(*this, mine)) {
                heir->next.store(nullptr, std::memory_order_relaxed);
                last->next.store(heir, std::memory_order_relaxed);
                last = heir;
            }
    }
    do
        last->next.store(below, std::memory_order_relaxed);
    while (!handed_off_.compare_exchange_weak(below, first,
                                              std::memory_order_seq_cst)); // pairs with steal_handed_off
    notify_handoff();
}

bool worker::defer_release(void *lock, transfer_function transfer) noexcept {
    FULT_ASSERT(this_worker() == this && current, "a task releases its lock");
    task *nothing = handed_off_.load(std::memory_order_relaxed);
    if (nothing || (team.stealing_disabled && team.count > 1)) // the next owner may belong to another worker
        return false;
    transfer_.store(transfer, std::memory_order_relaxed);
    if (!handed_off_.compare_exchange_strong(nothing, deferred_lock(lock), std::memory_order_seq_cst))
        return false;
    notify_handoff();
    return true;
}

bool worker::reacquire(const void *lock) noexcept {
    task *mine = handed_off_.load(std::memory_order_relaxed);
    return mine == deferred_lock(lock) &&
           handed_off_.compare_exchange_strong(mine, nullptr,
                                               std::memory_order_acq_rel); // pairs with steal_handed_off
}

task *worker::transfer(const worker &from, const task *what) noexcept {
    return from.transfer_.load(std::memory_order_relaxed)(lock_of(what), *this);
}

void worker::notify_handoff() noexcept {
    handoff_count_.store(handoff_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // A worker in poll sleep polls soon. Waking it for each hand-off would cost more than the hand-off.
    if (team.asleep.any() && team.poll_sleeping.load(std::memory_order_seq_cst) == 0) // pairs with park
        team.wake_for(*this, false);
}

// Takes the newest task. If it is still the first, nothing was taken: only this worker pushes.
task *worker::take_handed_off() noexcept {
    task *first = handed_off_.load(std::memory_order_acquire), *below = nullptr;
    while (first &&
           !handed_off_.compare_exchange_weak(
               first, below = is_deferred_lock(first) ? nullptr : first->next.load(std::memory_order_relaxed),
               std::memory_order_acq_rel)) // pairs with steal_handed_off
        ;
    if (is_deferred_lock(first))
        return transfer(*this, first);
    if (first && below)
        ready_set::prefetch(below);
    FULT_ASSERT(!first || is_handed_off(*first));
    return first;
}

// Adopts the rest of a chain that was taken from another worker.
void worker::adopt_handed_off(task *chain) noexcept {
    FULT_ASSERT(is_handed_off(*chain));
    if (!handed_off_.load(std::memory_order_relaxed)) {
        handed_off_.store(chain, std::memory_order_seq_cst); // only this worker pushes
        team.wake_for(*this, false);
        return;
    }
    task *last = chain;
    while (task *below = last->next.load(std::memory_order_relaxed))
        last = below;
    hand_off(chain, last);
}

// Steals the chain of a worker if its first task has not changed since this thief's last check; the rest of
// the chain is handed off to the thief itself. If the first task has changed, the next worker is checked:
// chains that make progress must not hide one that does not.
task *worker::steal_handed_off() noexcept {
    std::atomic<task *> &chain = team.homes[watched_victim_]->handed_off_;
    if (watched_first_ &&
        team.homes[watched_victim_]->handoff_count_.load(std::memory_order_relaxed) == watched_handoffs_ &&
        chain.load(std::memory_order_acquire) == watched_first_)
        if (task *first = chain.exchange(
                nullptr, std::memory_order_acq_rel)) { // pairs with hand_off and take_handed_off
            watched_first_ = nullptr;
            if (is_deferred_lock(first))
                return transfer(*team.homes[watched_victim_], first);
            if (task *rest = first->next.load(std::memory_order_relaxed))
                adopt_handed_off(rest);
            return first;
        }
    watched_first_ = nullptr;
    for (unsigned i = 0; i < team.count && !watched_first_; ++i) {
        watched_victim_ = (watched_victim_ + 1) % team.count;
        watched_first_ = team.homes[watched_victim_]->handed_off_.load(std::memory_order_acquire);
        watched_handoffs_ = team.homes[watched_victim_]->handoff_count_.load(std::memory_order_relaxed);
    }
    return nullptr;
}

bool worker::took_signal(task *self) noexcept {
    FULT_ASSERT(self->state.load(std::memory_order_relaxed) == busy, "a running task is busy");
    if (self->pending_wakeup.load(std::memory_order_relaxed) != 0 &&
        self->pending_wakeup.exchange(0, std::memory_order_seq_cst) != 0) // pairs with claim
        return true;
    const public_words words = self->pinned ? static_cast<worker *>(home_of(self))->tasks.pinned()
                                            : static_cast<worker *>(home_of(self))->tasks.runnable();
    const std::uint32_t slot = slot_of(self);
    return words.contains(slot) && words.take(slot >> 6, bit_of(slot)) != 0;
}

void worker::publish_work() noexcept {
    FULT_ASSERT(this_worker() == this);
    if (tasks.publish() == 0)
        return; // nothing to publish: the request stays set
    request_flags.fetch_and(~std::uint32_t{work_requested},
                            std::memory_order_seq_cst); // pairs with request_work and park
    if (team.asleep.any() && team.searching.load(std::memory_order_seq_cst) == 0)
        team.wake_one(index);
}

// A worker that polled its own words continues with another task. Signalers that saw it polling have not
// woken any worker, so if any worker sleeps, this one checks its public words once more. A worker that parks
// later makes our store visible by its own fence, before its last check (park; WATCH in
// tests/model/sleep.pml).
void worker::stop_polling() noexcept {
    if (team.private_words) {
        polling.store(0, std::memory_order_relaxed);
        owner_barrier();
        if (!team.asleep.any())
            return;
    }
    polling.exchange(0, std::memory_order_seq_cst); // pairs with wake_for
    if (team.asleep.any() && tasks.seems_public())
        team.wake_one(index);
}

// Waking ------------------------------------------------------------------------------------------------------------------------

void worker_team::wake(unsigned target) noexcept {
    if (asleep.remove(target))
        homes[target]->sleep.post();
}

void worker_team::wake_one(unsigned near) noexcept {
    if (const int target = asleep.remove_any(near); target >= 0)
        homes[static_cast<unsigned>(target)]->sleep.post();
}

void worker_team::wake_for(const worker &home, bool only_home) noexcept {
    if (!asleep.any()) // after the OR of the caller
        return;
    if (home.index < count) {
        if (asleep.remove(home.index)) {
            homes[home.index]->sleep.post();
            return;
        }
        if (only_home || stealing_disabled ||
            home.polling.load(std::memory_order_seq_cst) != 0) // pairs with stop_polling
            return;
    }
    if (searching.load(std::memory_order_seq_cst) != 0) // pairs with search
        return;
    wake_one(home.index);
}

} // namespace fult::detail
