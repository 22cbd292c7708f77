#include "worker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <cxxabi.h>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>
#include <fult/detail/forked.hpp>

#include "fult/base/leak_roots.hpp"
#include "fult/base/sanitizer.hpp"
#include "fult/memory/virtual_memory.hpp"
#include "processors.hpp"

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

static_assert(sizeof(worker) <= worker_room);

worker::worker(worker_team &owner, unsigned number, const home_memory &memory) noexcept
    : team(owner), index(number), neighbours(number + 1), memory_(memory) {
    // With spawn_sites on, the run of slots is hidden so that every spawn takes the slow path.
    slots.open(this, !owner.private_words || owner.opts.spawn_sites, owner.opts.max_tasks, memory_);
    tasks.open(this, owner.opts);
    if (owner.crowd.has_hints() && has_thread())
        tasks.show_in(owner.crowd.shown, index);
}

worker *worker::create(worker_team &owner, unsigned index) {
    const unsigned number = index == worker_team::foreign_index ? 0 : index + 1;
    const home_memory memory =
        map_home(sizeof(worker), owner.opts.max_tasks, number, std::max(owner.count(), number) + 1);
    auto *made = ::new (memory.begin) worker(owner, index, memory);
    add_leak_root(made, sizeof(worker));
    if (owner.opts.spawn_sites)
        made->sites.open();
    return made;
}

void worker::destroy(worker *w) noexcept {
    if (w->scheduler_stack_)
        w->team.stacks.release_sized(w->scheduler_stack_);
    home_memory memory = w->memory_;
    w->~worker();
    remove_leak_root(w, sizeof(worker));
    unmap_home(memory);
}

namespace {

struct bytes {
    std::byte *begin = nullptr;
    std::size_t size = 0;
};

// Of the initial thread. The kernel writes the program's name to the end of its stack, before a null, and
// keeps 128 MiB free for it. Empty on other threads, and with a larger limit.
bytes initial_stack() noexcept {
    constexpr rlim_t most = rlim_t{64} << 20;
    const auto *const name = reinterpret_cast<const char *>(::getauxval(AT_EXECFN));
    rlimit limit{};
    if (!name || ::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > most)
        return {};
    const std::uintptr_t page = page_size();
    const std::uintptr_t end =
        (address_of(name) + std::strlen(name) + 1 + sizeof(void *) + page - 1) / page * page;
    const std::size_t size = limit.rlim_cur / page * page;
    if (end - address_of(__builtin_frame_address(0)) >= size)
        return {};
    return {at_address<std::byte>(end - size), size};
}

// The C library reads a file of all mappings for those of the initial thread.
bytes stack_of_this_thread() noexcept {
    if (const bytes stack = initial_stack(); stack.size != 0)
        return stack;
    bytes stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low = nullptr;
        pthread_attr_getstack(&attributes, &low, &stack.size);
        stack.begin = static_cast<std::byte *>(low);
        pthread_attr_destroy(&attributes);
    }
    return stack;
}

} // namespace

void worker::enter_thread() {
    FULT_ASSERT(this_worker() == nullptr, "a thread has one worker");
    errno_ = &errno;
    exceptions_ = reinterpret_cast<exceptions_in_flight *>(abi::__cxa_get_globals());
    const bytes stack = stack_of_this_thread();
    thread_stack_.base = stack.begin;
    thread_stack_.size = stack.size;
    // The kernel grows the first thread's stack on demand. Assume 8 MiB, its usual size, whatever the limit
    // is.
    constexpr std::size_t room = 8u << 20;
    const std::uintptr_t top = address_of(thread_stack_.high());
    const std::size_t usable = index == 0 ? std::min(stack.size, room) : stack.size;
    thread_stack_.limit = team.opts.fp_env == fp_mode::own ? never_inline : inline_limit(top - usable, top);
    thread_stack_.kernel_threads = true;
    thread_stack_.fiber = sanitizer::fiber_current();
    current_stack_ = &thread_stack_;
    fult_tls_worker = this;
}

void worker::leave_thread() noexcept { fult_tls_worker = &no_worker; }

void worker::set_neighbours(const std::vector<std::vector<unsigned>> &groups) {
    for (const auto &group : groups) {
        std::vector<worker *> members;
        members.reserve(group.size());
        for (const unsigned other : group)
            members.push_back(team.homes[other]);
        neighbours.add_group(std::move(members));
    }
}

// The home ----------------------------------------------------------------------------------------------------------------------

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
    const team_visit visit(w); // the task may run, end and free its slot before a worker is woken for it
    const bool only_home = t->pinned;
    tasks.make_claimable(t, only_home);
    team.wake_for(*this, only_home);
}

task *worker::find_task() noexcept {
    task *t = pick(false);
    return t ? t : idle.search(*this);
}

task *worker::pick_from_sources(bool yielding) noexcept {
    FULT_ASSERT(this_worker() == this, "a worker decides for itself");
    task *t = nullptr;
    // Every 32nd decision is one for fairness: that bounds the wait of all tasks.
    const bool fair = decisions.is_next_fair();
    if (!fair && (t = sources.take_at_once(*this))) {
        decisions.next();
        return t;
    }
    if (request_flags.load(std::memory_order_relaxed) != 0) [[unlikely]]
        poll_requests(this);
    decisions.next();
    if (fair && yielding && shares_processors()) [[unlikely]] // tasks may poll in turn, for other processes
        ::sched_yield();
    if (fair && team.services.any()) [[unlikely]]
        team.services.poll();
    if (is_selective) [[unlikely]]
        return pick_selected(yielding, fair);
    if (team.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        if ((!fair || !team.ends_shortage()) && (t = pick_started(fair)))
            return t;
    if (fair && ((t = sources.take_fair(*this)) || (t = sources.take_at_once(*this))))
        return t;
    return sources.take(*this, yielding);
}

// If no stack can be allocated, tasks that have a stack come first: they end and free theirs. Signaled tasks
// take turns with yielding ones.
task *worker::pick_started(bool fair) noexcept {
    return fair ? sources.take_started_from<pinned_tasks>(*this)
                : sources.take_started_from<yielded_tasks>(*this);
}

// A selective worker leaves what it may not start where it is, for others. It looks at a few unstarted tasks
// a decision: at the newest, which are what it has generated last, and at some more, in turn, so that it
// reaches each.
task *worker::pick_selected(bool yielding, bool fair) noexcept {
    constexpr unsigned of_own = 4, all = of_own + 3;
    const unsigned kinds = fair ? all : of_own, first = fair ? selective_turn_++ : yielding ? 1 : 0;
    task *t = fair ? nullptr : sources.take_at_once(*this);
    for (unsigned i = 0; !t && i < kinds; ++i)
        switch ((first + i) % kinds) {
        case 0:
            t = tasks.take_startable();
            break;
        case 1:
            t = sources.get<yielded_tasks>().take_fair(*this);
            break;
        case 2:
            t = tasks.take_pinned_in_turn();
            break;
        case 3:
            t = tasks.take_public_in_turn(wanted::startable);
            break;
        case 4:
            t = sources.get<foreign_tasks>().take_fair(*this);
            break;
        case 5:
            t = sources.get<tasks_of_others>().take_fair(*this);
            break;
        default:
            t = sources.get<hidden_tasks>().take_fair(*this);
        }
    return t ? t : sources.take_at_once(*this);
}

bool worker::has_resumable() noexcept {
    return handed_off().may_have_any(*this) || tasks.any_yielded() || tasks.may_have_pinned();
}

void select_starts(bool on) noexcept { this_worker()->is_selective = on; }
unsigned deciding_worker() noexcept { return this_worker()->index; }

void make_ready_slow(task *t) noexcept { static_cast<worker *>(home_of(t))->make_ready(t); }

// Signals -----------------------------------------------------------------------------------------------------------------------

// For a task that is to be handed off (handed_off_chain.hpp). If it has not suspended yet, the signal is kept
// as a pending wake-up: a bit would make another worker claim it without result.
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

bool worker::consume_signal(task *self) noexcept {
    FULT_ASSERT(self->state.load(std::memory_order_relaxed) == busy, "a running task is busy");
    if (self->pending_wakeup.load(std::memory_order_relaxed) != 0 &&
        self->pending_wakeup.exchange(0, std::memory_order_seq_cst) != 0) // pairs with claim
        return true;
    const public_words words = self->pinned ? static_cast<worker *>(home_of(self))->tasks.pinned()
                                            : static_cast<worker *>(home_of(self))->tasks.runnable();
    const std::uint32_t slot = slot_of(self);
    return words.contains(slot) && words.take(slot >> 6, bit_of(slot)) != 0;
}

// Requests ----------------------------------------------------------------------------------------------------------------------

void worker::publish_work() noexcept {
    FULT_ASSERT(this_worker() == this);
    if (tasks.publish() == 0)
        return; // nothing to publish: the request stays set
    request_flags.fetch_and(~std::uint32_t{work_requested},
                            std::memory_order_seq_cst); // pairs with request_work and park
    if (team.crowd.has_hints())
        team.crowd.hiding.add(index); // before the sleepers are read
    if (team.sleepers.any() && team.searching.load(std::memory_order_seq_cst) == 0)
        team.wake_one(index);
}

namespace {

// Handles the request flags. Returns the bits of `word` that thieves have revoked. Revocation is handled
// first: a trim reconciles as well and would hide the result from the caller (TRIM_FIRST in
// tests/model/revoke.pml).
FULT_ALWAYS_INLINE std::uint64_t handle_requests(worker *w, std::uint32_t word) noexcept {
    const std::uint32_t wanted = w->request_flags.load(std::memory_order_relaxed);
    if (wanted & forked) [[unlikely]]
        refuse_in_child(); // before anything that may wait for a lock
    const std::uint64_t lost = wanted & revoked ? w->tasks.reconcile(word) : 0;
    if (wanted & trim_requested) [[unlikely]]
        w->trim_as_requested();
    if (wanted & work_requested)
        w->publish_work();
    return lost;
}

} // namespace

void poll_requests(worker_hot *hot) noexcept { handle_requests(static_cast<worker *>(hot), 0); }

bool poll_requests_after_claim(worker_hot *hot, task *t) noexcept {
    FULT_ASSERT(hot == current_worker() && home_of(t) == hot, "the owner has claimed its own task");
    const std::uint32_t slot = slot_of(t);
    return (handle_requests(static_cast<worker *>(hot), slot >> 6) & bit_of(slot)) == 0;
}

} // namespace fult::detail
