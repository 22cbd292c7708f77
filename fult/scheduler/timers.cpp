#include "timers.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <new>
#include <system_error>

#include "fult/base/no_descriptor.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

// Maximum number of deadlines fired by one poll. The others are left to the next poll and to other workers.
constexpr unsigned due_at_once = 32, batches = 8;

} // namespace

struct alignas(cache_line) timers::shard {
    spin_lock lock;
    // lower bound of the queue's deadlines; written under the lock
    std::atomic<std::int64_t> earliest{timer_queue::never};
    timer_queue queue;
};

timers::timers() noexcept = default;
timers::~timers() = default;

std::int64_t timers::now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

void timers::open_slow(worker_team &team) {
    const unsigned count = team.count(); // it may grow meanwhile
    std::unique_ptr<shard[]> made(new (std::nothrow) shard[count]);
    if (!made)
        throw std::system_error(ENOMEM, std::generic_category(), "fult: no memory for the timers");
    bool added = true;
    int error = 0;
    opening_.lock();
    if (!open_.load(std::memory_order_relaxed)) {
        shards_ = std::move(made);
        count_ = count;
        added = team.services.add_built_in(*this, services::built_in::time);
        error = errno;
        open_.store(added, std::memory_order_release); // pairs with open
    }
    opening_.unlock();
    if (!added)
        throw_no_descriptor(error, "fult: no descriptor for the timers", "eventfd2");
    team.wake_one(0); // a parked worker does not watch yet
}

void timers::arm(timer_entry &e) noexcept {
    const unsigned index = this_worker()->index % count_; // workers that came later share one
    shard &mine = shards_[index];
    e.shard = index;
    mine.lock.lock();
    if (mine.queue.is_far(e.deadline))
        mine.queue.advance(now());
    e.current_state.store(timer_entry::armed, std::memory_order_relaxed);
    mine.queue.insert(e);
    if (e.deadline < mine.earliest.load(std::memory_order_relaxed))
        mine.earliest.store(e.deadline, std::memory_order_seq_cst); // pairs with update_next
    mine.lock.unlock();
    lower(e.deadline);
}

void timers::disarm(timer_entry &e) noexcept {
    if (e.current_state.load(std::memory_order_acquire) == timer_entry::idle) // pairs with fire_some
        return;
    shard &its = shards_[e.shard];
    its.lock.lock();
    const bool armed = e.current_state.load(std::memory_order_relaxed) == timer_entry::armed;
    if (armed) {
        its.queue.remove(e);
        e.current_state.store(timer_entry::idle, std::memory_order_relaxed);
        if (e.deadline == its.earliest.load(std::memory_order_relaxed))
            its.earliest.store(its.queue.earliest(), std::memory_order_relaxed);
    }
    its.lock.unlock();
    spin_wait wait; // for the firing thread
    while (e.current_state.load(std::memory_order_acquire) != timer_entry::idle)
        wait();
}

// The watcher publishes its wake-up time before it checks next_ again; this is the other side, in reverse
// order (tests/model/timer.pml).
void timers::lower(std::int64_t when) noexcept {
    std::int64_t seen = next_.load(std::memory_order_seq_cst);
    while (when < seen)
        if (next_.compare_exchange_weak(seen, when, std::memory_order_seq_cst)) { // pairs with prepare_sleep
            if (when < watched_until_.load(std::memory_order_seq_cst) &&
                watched_until_.exchange(no_watcher, std::memory_order_seq_cst) != no_watcher)
                parker::ring();
            return;
        }
}

// A deadline that is armed after its shard was read lowers next_ itself, since next_ was raised before.
void timers::update_next() noexcept {
    next_.store(timer_queue::never, std::memory_order_seq_cst); // pairs with arm
    std::int64_t first = timer_queue::never;
    for (unsigned i = 0; i < count_; ++i)
        first = std::min(first, shards_[i].earliest.load(std::memory_order_seq_cst));
    lower(first);
}

unsigned timers::fire_some(shard &from, std::int64_t now) noexcept {
    timer_entry *due[due_at_once];
    unsigned count = 0;
    from.lock.lock();
    while (count < due_at_once) {
        timer_entry *e = from.queue.pop(now);
        if (!e)
            break;
        e->current_state.store(timer_entry::firing, std::memory_order_relaxed);
        due[count++] = e;
    }
    from.earliest.store(from.queue.earliest(), std::memory_order_seq_cst); // pairs with update_next
    from.lock.unlock();
    for (unsigned i = 0; i < count; ++i) {
        due[i]->fire(*due[i]);
        // pairs with disarm; the entry may then be destroyed
        due[i]->current_state.store(timer_entry::idle, std::memory_order_release);
    }
    return count;
}

bool timers::poll() noexcept {
    const std::int64_t next = next_.load(std::memory_order_relaxed);
    if (next == timer_queue::never)
        return false;
    const std::int64_t time = now();
    if (time < next)
        return false;
    const worker *here = this_worker();
    const unsigned start = here ? here->index : 0;
    unsigned fired = 0, left = batches;
    for (unsigned i = 0; i < count_ && left != 0; ++i) {
        shard &from = shards_[(start + i) % count_];
        while (left != 0 && from.earliest.load(std::memory_order_relaxed) <= time) {
            fired += fire_some(from, time);
            --left;
        }
    }
    if (left != 0)
        update_next();
    return fired != 0;
}

bool timers::prepare_sleep() noexcept {
    until_ = next_.load(std::memory_order_seq_cst);
    watched_until_.store(until_, std::memory_order_seq_cst); // pairs with lower
    if (next_.load(std::memory_order_seq_cst) >= until_ && until_ > now())
        return true;
    end_sleep();
    return false;
}

void timers::end_sleep() noexcept { watched_until_.store(no_watcher, std::memory_order_relaxed); }

} // namespace fult::detail
