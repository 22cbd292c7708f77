#include "comm/device/progress.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include <fult/detail/forked.hpp>

#include "comm/device/describe.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

// Progress ------------------------------------------------------------------------------------------------------------

bool progress_engine::needs_room() const noexcept {
    return parts_.windows.waits() || parts_.long_messages.waits() || parts_.accesses.waits() ||
           parts_.sending.waits() || parts_.answers.waits();
}

bool progress_engine::needs_memory() const noexcept {
    return parts_.receiving.waits() || parts_.unmatched.has_undelivered();
}

bool progress_engine::poll_transports() noexcept {
    parts_.sending.looked();
    const bool any = parts_.receiving.poll();
    if (any)
        parts_.sending.tasks_woken();
    return any;
}

void progress_engine::check_flow() noexcept {
    if (!parts_.flow.holds_others_back())
        return;
    parts_.flow.check();
    parts_.unmatched.fetch_offered();
}

void progress_engine::retry_for_room() noexcept {
    parts_.windows.retry();
    parts_.answers.retry();
    parts_.accesses.retry();
    parts_.long_messages.retry();
    parts_.sending.retry();
}

progress_engine::found progress_engine::poll_once() noexcept {
    fult::detail::check_not_forked();
    device_mutex &mutex = parts_.core.mutex;
    if (!mutex.try_lock())
        return found::nothing;
    if (!parts_.core.callbacks.is_idle()) [[unlikely]] { // possibly below this call; they go first
        mutex.unlock();
        return found::callbacks_run;
    }
    parts_.sending.flush_all();
    const bool any = poll_transports();
    check_flow();
    if (needs_room())
        retry_for_room();
    if (needs_memory()) {
        parts_.receiving.retry();
        parts_.arriving.retry_undelivered();
    }
    if (parts_.sending.is_any_open())
        parts_.sending.flush_all();
    mutex.unlock();
    return any ? found::something : found::nothing;
}

bool progress_engine::progress() noexcept { return poll_once() == found::something; }

void progress_engine::look_in_turn() noexcept {
    const found what = poll_once();
    if (what != found::something)
        fult::detail::yield_if_processors_shared();
    if (what != found::callbacks_run) // others that wait for this device could not go on anyway
        fult::detail::let_others_run_sometimes();
}

void progress_engine::relieve() noexcept {
    if (!parts_.flow.holds_others_back())
        return;
    const std::lock_guard hold(parts_.core.mutex);
    check_flow();
    parts_.sending.flush_all();
}

bool progress_engine::handed_over_locked() noexcept {
    parts_.sending.flush_all();
    return !parts_.sending.is_any_open() && !needs_room() && parts_.long_messages.arriving() == 0 &&
           parts_.core.under_way == 0 && parts_.core.callbacks.is_idle();
}

bool progress_engine::handed_over() noexcept {
    const std::lock_guard hold(parts_.core.mutex);
    return handed_over_locked();
}

bool progress_engine::quiet() noexcept {
    const std::lock_guard hold(parts_.core.mutex);
    return handed_over_locked() && parts_.long_messages.offered() == 0;
}

device_traffic progress_engine::look_at_traffic() noexcept {
    const inspection hold(*this);
    const peer_table &peers = parts_.core.peers;
    device_traffic all;
    all.is_calm = !needs_room() && !needs_memory() && parts_.core.under_way == 0 &&
                  parts_.accesses.pending() == 0 && parts_.long_messages.arriving() == 0 &&
                  !peers.any_ended() && !peers.any_doomed() && parts_.core.callbacks.is_idle() &&
                  !parts_.sending.has_gathered();
    for (int rank = 0; rank < peers.size(); ++rank)
        if (const peer &each = peers.of(rank); !each.failed.load(std::memory_order_relaxed)) {
            all.sent += each.sent;
            all.received += each.received;
        }
    return all;
}

// Waiting -------------------------------------------------------------------------------------------------------------

// Returns true if the grant came while nothing else was ready.
FULT_ALWAYS_INLINE bool progress_engine::wait_awake(const fult::detail::waiter &w) noexcept {
    if (w.is_granted())
        return true;
    bool granted = false;
    progress_until([&] { return granted = w.is_granted(); });
    return granted;
}

void progress_engine::wait(fult::detail::waiter &w, const fult::detail::waiting_for &what) noexcept {
    fult::detail::check_not_forked();
    if (wait_awake(w))
        return;
    if (in_task()) // the poll has been done
        w.wait_at_once(what);
    else
        w.wait(what);
}

void progress_engine::wait(fult::detail::waiter &w, const operation &what) noexcept {
    wait(w, {nullptr, &what,
             [](const void *object, fult::detail::wait_text which, char *text, std::size_t size) noexcept {
                 const auto &its = *static_cast<const operation *>(object);
                 which == fult::detail::wait_text::kind ? describe_wait(its, text, size)
                                                        : describe_unreceived(its, text, size);
             }});
}

void progress_engine::pause() noexcept {
    if (progress())
        return;
    if (in_task() && fult::detail::others_ready()) {
        this_task::yield();
        return;
    }
    try {
        fult::detail::waiter moment;
        moment.wait(
            fult::detail::wait_limits(std::chrono::steady_clock::now() + std::chrono::microseconds(200)));
    } catch (const std::exception &) { // no memory or descriptor for a timer
        std::this_thread::yield();
    }
}

// Sleeping ------------------------------------------------------------------------------------------------------------

// Returns false if another thread makes progress.
bool progress_engine::lock_to_sleep() noexcept {
    if (parts_.core.mutex.try_lock())
        return true;
    if (inspections_.load(std::memory_order_relaxed) == 0)
        return false;
    parts_.core.mutex.lock();
    return true;
}

bool progress_engine::transports_may_sleep() noexcept {
    for (const auto &each : parts_.core.transports)
        if (!each->may_sleep())
            return false;
    return true;
}

bool progress_engine::prepare_sleep() noexcept {
    parts_.sleep.begin();
    if (!lock_to_sleep()) { // another thread makes progress: there is work
        end_sleep();
        return false;
    }
    parts_.sending.flush_all();
    bool calm = parts_.core.callbacks.is_idle() && !poll_transports();
    for (unsigned looks = 0; calm && !transports_may_sleep(); ++looks)
        calm = looks < looks_a_step && !poll_transports(); // what arrived may not count
    if (calm)
        parts_.sleep.announce(parts_.sending.is_any_open() || needs_room() || needs_memory() ||
                              parts_.core.peers.any_ended());
    parts_.core.mutex.unlock();
    if (!calm)
        end_sleep();
    return calm;
}

void progress_engine::slept_out() noexcept {
    const std::lock_guard hold(parts_.core.mutex);
    parts_.sleep.timed_out(needs_room() || parts_.sending.has_gathered());
}

} // namespace fult::comm::detail
