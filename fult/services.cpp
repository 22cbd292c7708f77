#include "services.hpp"

#include <algorithm>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <string>

#include "team.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

constexpr auto never = timer_queue::never;
constexpr std::int64_t nanoseconds_in_millisecond = 1'000'000;

} // namespace

// A reader says that it is inside before it looks at who is there; remove takes it out before it looks at who
// is inside.
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

bool services::expect_something() noexcept {
    bool expects = false;
    for (place &at : places_)
        if (service *s = at.enter()) {
            expects = s->expects() || expects;
            at.leave();
        }
    return expects;
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
    bool busy = false;
    for (place &at : places_)
        if (service *s = at.enter()) {
            busy = s->poll() || busy;
            at.leave();
        }
    return busy;
}

// One sleep in the kernel, until then at most; whether somebody should look for work now.
bool services::sleep_once(worker &who, std::uint32_t prepared, std::int64_t until) noexcept {
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
        who.be_counted(true);
        who.sleep.wait_with(prepared, descriptors, watching, limit == never ? -1 : limit);
        who.be_counted(false);
    }
    for (unsigned i = 0; i < count; ++i) {
        ready[i]->end_sleep();
        held[i]->leave();
    }
    return !calm;
}

bool services::watch(worker &who, std::uint32_t prepared) noexcept {
    if (count_.load(std::memory_order_seq_cst) == 0 || // pairs with add_at
        watched_.exchange(true, std::memory_order_seq_cst))
        return false;
    std::int64_t settles = timers::now() + who.settles_after() * nanoseconds_in_millisecond;
    while (any() && !who.sleep.posted(prepared)) {
        if (poll() || sleep_once(who, prepared, settles))
            break;
        if (timers::now() >= settles && !who.sleep.posted(prepared)) {
            const int again = who.settle_down(true);
            who.be_counted(false);
            settles = again < 0 ? never : timers::now() + again * nanoseconds_in_millisecond;
        }
    }
    who.rouse();
    watched_.store(false, std::memory_order_seq_cst); // before the look for a successor, in nap
    return true;
}

void add_service(service &s) {
    team *crew = running_team();
    if (!crew)
        throw std::logic_error("fult: no runtime is running; start a fult::runtime first");
    if (!crew->outside.add(s))
        throw std::length_error("fult: more than " + std::to_string(services::capacity) +
                                " communication devices");
    crew->wake_one(0); // who sleeps already does not watch
}

void remove_service(service &s) noexcept {
    if (team *crew = running_team())
        crew->outside.remove(s);
}

bool others_ready() noexcept {
    worker *w = this_worker();
    // Tasks that messages have woken are in the public words, which are few; so they come first.
    return w && (w->tasks.seems_public() || w->has_work());
}

} // namespace fult::detail
