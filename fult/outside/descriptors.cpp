#include "descriptors.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <sched.h>
#include <sys/epoll.h>
#include <system_error>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "fult/base/no_descriptor.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {
namespace {

constexpr unsigned batch = 64; // events taken by one poll: they are on a task's stack

// For this many nanoseconds after a busy worker has polled, other workers leave polling to it.
constexpr std::int64_t soon = 500'000;

[[noreturn]] void fail(int error, const char *what) {
    throw std::system_error(error, std::generic_category(), what);
}

} // namespace

descriptors &descriptors::instance() noexcept {
    alignas(descriptors) static std::byte
        place[sizeof(descriptors)]; // never destroyed: tasks may wait until the end
    static descriptors *const only = ::new (place) descriptors;
    return *only;
}

void descriptors::open(worker_team &team) {
    if (team.watches_descriptors.load(std::memory_order_acquire)) [[likely]] // pairs with the store below
        return;
    bool added = false;
    int error = 0;
    const char *call = "epoll_create1";
    {
        const std::lock_guard guard(opening_);
        if (team.watches_descriptors.load(std::memory_order_relaxed))
            return;
        FULT_ASSERT(epoll_.load(std::memory_order_relaxed) < 0, "each runtime has its own");
        const int made = ::epoll_create1(EPOLL_CLOEXEC);
        epoll_.store(made, std::memory_order_relaxed);
        if (made >= 0)
            call = "eventfd2";
        added = made >= 0 && team.services.add_built_in(*this, services::built_in::descriptors);
        error = errno;
        if (made >= 0 && !added)
            close_instance();
        team.watches_descriptors.store(added, std::memory_order_release);
    }
    if (!added)
        throw_no_descriptor(error, "fult: no descriptor left to wait for descriptors", call);
    team.wake_one(0); // a parked worker does not watch yet
}

void descriptors::close_instance() noexcept {
    FULT_ASSERT(waiting_.load(std::memory_order_relaxed) == 0, "the tasks of its runtime have ended");
    if (const int instance = epoll_.exchange(-1, std::memory_order_relaxed); instance >= 0)
        ::close(instance);
}

descriptors::state *descriptors::known_state_of(int descriptor) const noexcept {
    const auto number = static_cast<unsigned>(descriptor);
    if (descriptor < 0 || number / chunk_size >= chunks)
        return nullptr;
    state *chunk = chunks_[number / chunk_size].load(std::memory_order_acquire); // pairs with state_of
    return chunk ? chunk + number % chunk_size : nullptr;
}

namespace {
// What the kernel returns with an event: the descriptor, and which of its events it is.
std::uint64_t event_id(int descriptor, std::uint32_t number) noexcept {
    return std::uint64_t{number} << 32 | static_cast<std::uint32_t>(descriptor);
}
int descriptor_of(const epoll_event &e) noexcept { return static_cast<int>(e.data.u64 & 0xffffffffu); }
} // namespace

descriptors::state &descriptors::state_of(int descriptor) {
    if (state *found = known_state_of(descriptor))
        return *found;
    const auto number = static_cast<unsigned>(descriptor);
    if (descriptor < 0 || number / chunk_size >= chunks)
        fail(EBADF, "fult: wait for a descriptor that is not open");
    std::unique_ptr<state[]> made(new (std::nothrow) state[chunk_size]);
    if (!made)
        fail(ENOMEM, "fult: no memory to wait for a descriptor");
    state *nothing = nullptr;
    auto &place = chunks_[number / chunk_size];
    if (place.compare_exchange_strong(nothing, made.get(), std::memory_order_acq_rel))
        (void)made.release(); // never freed
    return place.load(std::memory_order_acquire)[number % chunk_size];
}

// Arms one event for what is waited for. Returns 0 or an error. Called under the state's lock. Reports
// conditions that hold already as well as new ones.
int descriptors::watch(state &of, int descriptor) noexcept {
    epoll_event what{};
    what.events = EPOLLONESHOT | (of.readers.empty() ? 0U : EPOLLIN | EPOLLRDHUP) |
                  (of.writers.empty() ? 0U : std::uint32_t{EPOLLOUT});
    what.data.u64 = event_id(descriptor, ++of.armed);
    const int on = epoll_.load(std::memory_order_relaxed);
    for (int tries = 0; tries < 2; ++tries) { // the number may have been closed and reused
        if (::epoll_ctl(on, of.known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, descriptor, &what) == 0) {
            of.known = true;
            return 0;
        }
        if (errno != (of.known ? ENOENT : EEXIST))
            break;
        of.known = !of.known;
    }
    return errno;
}

descriptor_status descriptors::wait(int descriptor, bool writing, const wait_limits &limits) {
    state &its = state_of(descriptor);
    waiter me;
    waiting_.fetch_add(1, std::memory_order_seq_cst); // before any event can occur; pairs with prepare_sleep
    its.lock.lock();
    wait_list &mine = writing ? its.writers : its.readers;
    mine.push(me);
    const int saved = errno;
    const int error = watch(its, descriptor);
    errno = saved;
    if (error != 0) {
        mine.remove(me);
        its.lock.unlock();
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        if (error == EPERM) // poll(2) always reports it ready
            return descriptor_status::ready;
        fail(error, "fult: cannot wait for the descriptor");
    }
    its.lock.unlock();
    const waiting_for what{writing ? "descriptor to become writable" : "descriptor to become readable"};
    if (!me.wait_long(limits, what) && leave_queue(its.lock, mine, me)) {
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        return descriptor_status::timed_out;
    }
    return me.tag == is_closed ? descriptor_status::closed : descriptor_status::ready;
}

void descriptors::end_waits(wait_list &list, std::uintptr_t tag, wait_chain &into) noexcept {
    while (waiter *w = list.pop()) {
        waiting_.fetch_sub(1, std::memory_order_relaxed);
        w->tag = tag;
        into.add(w);
    }
}

// Collects the waiters that the event concerns and rearms the descriptor for the others. The event may be one
// of an earlier wait, which this worker has taken from the kernel before the present one was armed: the
// descriptor may have been read since. It is ignored, as arming reports what holds.
void descriptors::take(state &from, const epoll_event &event, wait_chain &into) noexcept {
    const int descriptor = descriptor_of(event);
    const unsigned events = event.events;
    const std::lock_guard guard(from.lock);
    if (event.data.u64 != event_id(descriptor, from.armed))
        return;
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        end_waits(from.readers, is_ready, into);
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        end_waits(from.writers, is_ready, into);
    if (!from.readers.empty() || !from.writers.empty())
        if (watch(from, descriptor) != 0) { // the call after the wait will report the error
            end_waits(from.readers, is_ready, into);
            end_waits(from.writers, is_ready, into);
        }
}

bool descriptors::poll_events() noexcept {
    if (polling_.load(std::memory_order_relaxed) || polling_.exchange(true, std::memory_order_acquire))
        return false;
    epoll_event events[batch];
    const int saved = errno;
    const int count = ::epoll_wait(epoll_.load(std::memory_order_relaxed), events, batch, 0);
    polling_.store(false, std::memory_order_release);
    wait_chain granted;
    for (int i = 0; i < count; ++i)
        if (state *of = known_state_of(descriptor_of(events[i])))
            take(*of, events[i], granted);
    errno = saved;
    const bool any = !granted.empty();
    granted.grant();
    return any;
}

// A worker without work would take each event as it comes and be woken for each. A busy worker takes many at
// a time, every few tasks, provided that it polls soon. A foreign thread leaves nothing to others: it watches
// because no worker does.
bool descriptors::is_left_to_others() const noexcept {
    const worker *here = this_worker();
    if (!here)
        return false;
    const worker_team &team = here->team;
    const bool someone_is_busy =
        team.searching.load(std::memory_order_relaxed) + team.sleepers.count() < team.count();
    return someone_is_busy && timers::now() - last_poll_.load(std::memory_order_relaxed) < soon;
}

bool descriptors::poll() noexcept {
    if (waiting_.load(std::memory_order_relaxed) == 0)
        return false;
    const worker *here = this_worker();
    const bool idle = here && here->idle.is_polling();
    if (!idle)
        last_poll_.store(timers::now(), std::memory_order_relaxed);
    else if (is_left_to_others())
        return false;
    const bool any = poll_events();
    if (idle && !any)
        ::sched_yield(); // the sender may need this processor
    return any;
}

// Consumes events without waiters here: they would wake the watcher again and again.
bool descriptors::prepare_sleep() noexcept {
    skipping_until_ = is_left_to_others() ? timers::now() + soon : timer_queue::never;
    return skipping_until_ != timer_queue::never || !poll_events();
}

int descriptors::close(int descriptor) noexcept {
    state *its = known_state_of(descriptor);
    if (!its)
        return ::close(descriptor);
    wait_chain ended;
    its->lock.lock();
    end_waits(its->readers, is_closed, ended);
    end_waits(its->writers, is_closed, ended);
    its->known = false;
    const int result = ::close(descriptor); // under the lock: no wait can begin before
    its->lock.unlock();
    const int error = errno;
    ended.grant();
    errno = error;
    return result;
}

} // namespace fult::detail
