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
constexpr unsigned looks_of_a_thread = 100; // before a sleep

} // namespace

// A reader increments `inside` before it reads the pointer; remove clears the pointer before it reads
// `inside`.
service *services::place::enter() noexcept {
    if (!who.load(std::memory_order_relaxed))
        return nullptr;
    inside.fetch_add(1, std::memory_order_seq_cst); // pairs with remove
    service *s = who.load(std::memory_order_seq_cst);
    if (!s)
        leave();
    return s;
}

void services::place::leave() noexcept {
    FULT_ASSERT(inside.load(std::memory_order_relaxed) != 0);
    inside.fetch_sub(1, std::memory_order_release); // pairs with remove
}

bool services::add_at(place &at, service &s) noexcept {
    service *nobody = nullptr;
    if (!at.who.compare_exchange_strong(nobody, &s, std::memory_order_seq_cst))
        return false;
    count_.fetch_add(1, std::memory_order_seq_cst); // pairs with watch
    return true;
}

bool services::add(service &s) {
    if (!parker::open_bell())
        return false;
    for (unsigned i = 0; i < capacity; ++i)
        if (add_at(places_[i], s))
            return true;
    return false;
}

bool services::add_own(service &s, own which) {
    return parker::open_bell() && add_at(places_[capacity + static_cast<unsigned>(which)], s);
}

void services::end() noexcept {
    for (place &at : places_)
        if (service *s = at.who.load(std::memory_order_relaxed))
            s->end();
}

bool services::has_added() const noexcept {
    for (unsigned i = 0; i < capacity; ++i)
        if (places_[i].who.load(std::memory_order_relaxed))
            return true;
    return false;
}

// True if the predicate holds for any service.
template <class Is> bool services::any_is(const Is &is) noexcept {
    bool any = false;
    for (place &at : places_)
        if (service *s = at.enter()) {
            any = is(*s) || any;
            at.leave();
        }
    return any;
}

bool services::expect_something() noexcept {
    return any_is([](const service &s) { return s.expects(); });
}

bool services::expect_something_unjudged() noexcept {
    return any_is([](const service &s) { return s.expects() && !s.is_judged(); });
}

void services::remove(service &s) noexcept {
    for (place &at : places_) {
        if (at.who.load(std::memory_order_relaxed) != &s)
            continue;
        at.who.store(nullptr, std::memory_order_seq_cst); // pairs with enter
        count_.fetch_sub(1, std::memory_order_seq_cst);
        while (at.inside.load(std::memory_order_seq_cst) != 0) {
            parker::ring(); // the watcher may be asleep for it
            ::sched_yield();
        }
    }
}

bool services::poll() noexcept {
    const no_suspension_in_spawn meanwhile; // the caller decides which task runs next
    bool busy = false;
    for (place &at : places_)
        if (service *s = at.enter()) {
            busy = s->poll() || busy;
            at.leave();
        }
    return busy;
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
    service *ready[places];
    pollfd descriptors[places + 1];
    place *held[places];
    unsigned count = 0, watching = 1;
    std::int64_t limit = never;
    bool calm = true;
    for (place &at : places_) {
        service *s = calm ? at.enter() : nullptr;
        if (!s)
            continue;
        if (!s->prepare_sleep()) {
            at.leave();
            calm = false;
            continue;
        }
        held[count] = &at;
        FULT_ASSERT(count < places);
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

bool services::watch(worker &who, std::uint32_t prepared) noexcept {
    if (!begin_watch())
        return false;
    const auto begin_polls = [&] {
        who.team.counting.lock();
        polling_asleep_.fetch_add(1, std::memory_order_relaxed); // under the lock: pairs with polls_asleep
        who.team.counting.unlock();
    };
    const auto end_polls = [&] {
        polling_asleep_.fetch_sub(1, std::memory_order_release); // pairs with polls_asleep
    };
    const auto sleep = [&](pollfd *descriptors, unsigned count, std::int64_t nanoseconds) {
        end_polls();
        who.idle.in_long_sleep.count(who, true);
        who.idle.sleep.wait_with(prepared, descriptors, count, nanoseconds);
        who.idle.in_long_sleep.count(who, false);
        begin_polls();
    };
    begin_polls();
    std::int64_t settles = timers::now() + long_sleep::begins_after(who.team) * nanoseconds_in_millisecond;
    while (any() && !who.idle.sleep.posted(prepared)) {
        if (poll() || sleep_once(settles, sleep))
            break;
        if (timers::now() >= settles && !who.idle.sleep.posted(prepared)) {
            const int again = who.idle.in_long_sleep.step(who, true);
            who.idle.in_long_sleep.count(who, false);
            settles = again < 0 ? never : timers::now() + again * nanoseconds_in_millisecond;
        }
    }
    end_polls();
    who.idle.in_long_sleep.end(who);
    end_watch();
    return true;
}

bool services::watch(const worker_team &team, thread_wait &who) noexcept {
    if (!begin_watch())
        return false;
    const auto sleep = [&](pollfd *descriptors, unsigned count, std::int64_t nanoseconds) {
        if (!who.begin_sleep_at_bell())
            return;
        parker own; // not posted to: the bell wakes this thread
        own.wait_with(own.prepare(), descriptors, count, nanoseconds);
        who.end_sleep_at_bell();
    };
    const auto is_over = [&] {
        return !who.is_asleep() || !any() || team.stopping.load(std::memory_order_relaxed) ||
               (who.deadline() != never && timers::now() >= who.deadline());
    };
    for (unsigned idle = 0; !is_over();)
        if (poll()) {
            idle = 0;
        } else if (++idle >= looks_of_a_thread || relax()) {
            sleep_once(who.deadline(), sleep);
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
    if (!team->outside.add(s))
        throw std::length_error("fult: more than " + std::to_string(services::capacity) +
                                " communication devices");
    team->wake_one(0); // a worker that already sleeps is not a watcher
    waiting_threads.unpark_one();
}

bool has_services() noexcept {
    const team_visit here;
    const worker_team *const team = here.team();
    return team && team->outside.has_added();
}

void remove_service(service &s) noexcept {
    const team_visit here;
    if (worker_team *const team = here.team())
        team->outside.remove(s);
}

bool others_ready() noexcept {
    worker *w = this_worker();
    if (!w)
        return false;
    // A caller that waits while nothing is ready would give up for a hint that is left of itself.
    w->tasks.clear_stale_hints();
    // Tasks woken by messages are in the public words, which are few, so check these first.
    return w->tasks.seems_public() || w->has_work();
}

std::uint32_t decisions_of(unsigned other) noexcept {
    const worker_team &team = this_worker()->team;
    FULT_ASSERT(other < team.count(), "workers of one runtime");
    return team.homes[other]->decisions.count();
}

} // namespace fult::detail
