#include "services.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "fult/base/no_descriptor.hpp"
#include "parker.hpp"
#include "processors.hpp"
#include "team.hpp"
#include "thread_waits.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

constexpr auto never = timer_queue::never;
constexpr std::int64_t nanoseconds_in_millisecond = 1'000'000;
constexpr unsigned polls_of_thread = 100; // before a sleep

} // namespace

// A reader increments `users` before it reads the pointer; remove clears the pointer before it reads
// `users`.
service *services::registration::enter() noexcept {
    if (!target.load(std::memory_order_relaxed))
        return nullptr;
    users.fetch_add(1, std::memory_order_seq_cst); // pairs with remove
    service *s = target.load(std::memory_order_seq_cst);
    if (!s)
        leave();
    return s;
}

void services::registration::leave() noexcept {
    FULT_ASSERT(users.load(std::memory_order_relaxed) != 0);
    users.fetch_sub(1, std::memory_order_release); // pairs with remove
}

bool services::add_at(registration &at, service &s) noexcept {
    service *none = nullptr;
    if (!at.target.compare_exchange_strong(none, &s, std::memory_order_seq_cst))
        return false;
    count_.fetch_add(1, std::memory_order_seq_cst); // pairs with watch
    return true;
}

bool services::add(service &s) {
    if (!parker::open_bell())
        return false;
    for (unsigned i = 0; i < capacity; ++i)
        if (add_at(registrations_[i], s))
            return true;
    return false;
}

bool services::add_built_in(service &s, built_in which) {
    return parker::open_bell() && add_at(registrations_[capacity + static_cast<unsigned>(which)], s);
}

void services::end() noexcept {
    for (registration &at : registrations_)
        if (service *s = at.target.load(std::memory_order_relaxed))
            s->end();
}

bool services::has_added() const noexcept {
    for (unsigned i = 0; i < capacity; ++i)
        if (registrations_[i].target.load(std::memory_order_relaxed))
            return true;
    return false;
}

// True if the predicate holds for any service. It is called for each.
template <class Is> bool services::any_of(const Is &is) noexcept {
    bool any = false;
    for (registration &at : registrations_)
        if (service *s = at.enter()) {
            any = is(*s) || any;
            at.leave();
        }
    return any;
}

bool services::may_wake_any() noexcept {
    return any_of([](const service &s) { return s.expects(); });
}

bool services::may_wake_any_unjudged() noexcept {
    return any_of([](const service &s) { return s.expects() && !s.is_judged(); });
}

void services::remove(service &s) noexcept {
    for (registration &at : registrations_) {
        if (at.target.load(std::memory_order_relaxed) != &s)
            continue;
        at.target.store(nullptr, std::memory_order_seq_cst); // pairs with enter
        count_.fetch_sub(1, std::memory_order_seq_cst);
        while (at.users.load(std::memory_order_seq_cst) != 0) {
            parker::ring(); // the watcher may be asleep for it
            ::sched_yield();
        }
    }
}

bool services::poll() noexcept {
    const no_suspension_in_spawn meanwhile; // the caller decides which task runs next
    return any_of([](service &s) { return s.poll(); });
}

no_suspension_in_spawn::no_suspension_in_spawn() noexcept
    : here_(this_worker()), before_(here_ && std::exchange(here_->no_suspension_in_spawn, true)) {}
no_suspension_in_spawn::~no_suspension_in_spawn() {
    if (here_)
        here_->no_suspension_in_spawn = before_;
}

// One sleep in the kernel, until `until` at most: sleep(descriptors, count, nanoseconds). The first
// descriptor is reserved for the bell. True if there may be work now.
template <class Sleep> bool services::sleep_once(std::int64_t until, const Sleep &sleep) noexcept {
    service *ready[registration_count];
    pollfd descriptors[registration_count + 1];
    registration *held[registration_count];
    unsigned count = 0, watching = 1;
    std::int64_t limit = never;
    bool calm = true;
    for (registration &at : registrations_) {
        service *s = calm ? at.enter() : nullptr;
        if (!s)
            continue;
        if (!s->prepare_sleep()) {
            at.leave();
            calm = false;
            continue;
        }
        held[count] = &at;
        FULT_ASSERT(count < registration_count);
        ready[count++] = s;
        if (const int fd = s->descriptor(); fd >= 0)
            descriptors[watching++] = {fd, POLLIN, 0};
        if (const int patience = s->patience(); patience >= 0)
            limit = std::min(limit, patience * nanoseconds_in_millisecond);
        until = std::min(until, s->deadline());
    }
    if (calm) {
        if (until != never)
            limit = std::min(limit, std::max<std::int64_t>(until - timers::now(), 0));
        sleep(descriptors, watching, limit == never ? -1 : limit);
    }
    for (unsigned i = 0; i < count; ++i) {
        ready[i]->end_sleep();
        held[i]->leave();
    }
    return !calm;
}

bool services::begin_watch() noexcept {
    return count_.load(std::memory_order_seq_cst) != 0 &&       // pairs with add_at
           !watched_.exchange(true, std::memory_order_seq_cst); // pairs with end_watch
}

// Called before the search for a successor: in park, in hand_off_polling.
void services::end_watch() noexcept {
    FULT_ASSERT(watched_.load(std::memory_order_relaxed), "this thread is the watcher");
    watched_.store(false, std::memory_order_seq_cst);
}

bool services::watch(worker &sleeper, std::uint32_t prepared, sleep_limit most) noexcept {
    if (!begin_watch())
        return false;
    const auto begin_polls = [&] {
        sleeper.team.counting.lock();
        polling_asleep_.fetch_add(1, std::memory_order_relaxed); // under the lock: pairs with polls_asleep
        sleeper.team.counting.unlock();
    };
    const auto end_polls = [&] {
        polling_asleep_.fetch_sub(1, std::memory_order_release); // pairs with polls_asleep
    };
    const auto sleep = [&](pollfd *descriptors, unsigned count, std::int64_t nanoseconds) {
        end_polls();
        sleeper.idle.in_long_sleep.count(sleeper, true);
        sleeper.idle.sleep.wait_with(prepared, descriptors, count, nanoseconds);
        sleeper.idle.in_long_sleep.count(sleeper, false);
        begin_polls();
    };
    begin_polls();
    std::int64_t long_sleep_begin = timers::now();
    if (!most.is_long)
        long_sleep_begin += long_sleep::begins_after(sleeper.team) * nanoseconds_in_millisecond;
    const auto is_over = [&] { return most.until != never && timers::now() >= most.until; };
    while (any() && !sleeper.idle.sleep.posted(prepared)) {
        if (poll() || sleep_once(std::min(long_sleep_begin, most.until), sleep) || is_over())
            break;
        if (timers::now() >= long_sleep_begin && !sleeper.idle.sleep.posted(prepared)) {
            const int again = sleeper.idle.in_long_sleep.step(sleeper, true);
            sleeper.idle.in_long_sleep.count(sleeper, false);
            long_sleep_begin = again < 0 ? never : timers::now() + again * nanoseconds_in_millisecond;
        }
    }
    end_polls();
    if (most.until == never)
        sleeper.idle.in_long_sleep.end(sleeper);
    end_watch();
    return true;
}

bool services::watch(const worker_team &team, thread_wait &sleeper) noexcept {
    if (!begin_watch())
        return false;
    const auto sleep = [&](pollfd *descriptors, unsigned count, std::int64_t nanoseconds) {
        if (!sleeper.begin_sleep_at_bell())
            return;
        parker own; // not posted to: the bell wakes this thread
        own.wait_with(own.prepare(), descriptors, count, nanoseconds);
        sleeper.end_sleep_at_bell();
    };
    const auto is_over = [&] {
        return !sleeper.is_asleep() || !any() || team.stopping.load(std::memory_order_relaxed) ||
               (sleeper.deadline() != never && timers::now() >= sleeper.deadline());
    };
    for (unsigned idle = 0; !is_over();)
        if (poll()) {
            idle = 0;
        } else if (++idle >= polls_of_thread || relax()) {
            sleep_once(sleeper.deadline(), sleep);
            idle = 0;
        }
    end_watch();
    return true;
}

void add_service(service &s) {
    const team_visit here;
    worker_team *const team = here.team();
    if (!team)
        throw std::logic_error("fult: no runtime is running; start a fult::runtime first");
    if (!parker::open_bell())
        throw_no_descriptor(errno, "fult: no descriptor to wake threads that wait for the network",
                            "eventfd2");
    if (!team->services.add(s))
        throw std::length_error("fult: more than " + std::to_string(services::capacity) +
                                " communication devices");
    team->wake_one(0); // a worker that already sleeps is not a watcher
    waiting_threads.unpark_one();
}

bool has_services() noexcept {
    const team_visit here;
    const worker_team *const team = here.team();
    return team && team->services.has_added();
}

void remove_service(service &s) noexcept {
    const team_visit here;
    if (worker_team *const team = here.team())
        team->services.remove(s);
}

bool others_ready() noexcept {
    worker *w = this_worker();
    if (!w)
        return false;
    if (w->has_own_work())
        return true;
    // A caller that waits while nothing is ready would give up for a hint that is left of itself.
    w->tasks.clear_stale_hints();
    return w->has_work();
}

std::uint32_t decisions_of(unsigned other) noexcept {
    const worker_team &team = this_worker()->team;
    FULT_ASSERT(other < team.count(), "workers of one runtime");
    return team.homes[other]->decisions.count();
}

} // namespace fult::detail
