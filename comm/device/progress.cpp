#include "comm/device/progress.hpp"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>

#include "comm/device/describe.hpp"
#include "comm/device/one_sided.hpp"

namespace fult::comm::detail {

// Progress ------------------------------------------------------------------------------------------------------------

bool progress_engine::needs_room() const noexcept {
    FULT_ASSERT(all_are_marked(), "a part that is not marked would never be retried");
    return core_.waiting.any_for_room();
}

bool progress_engine::all_are_marked() const noexcept {
    const waiting_parts &marked = core_.waiting;
    return marked.has(waiting_part::credits) == core_.windows.is_waiting() &&
           marked.has(waiting_part::send_path) == core_.sends.is_waiting() &&
           marked.has(waiting_part::answers) == core_.answers.is_waiting() &&
           marked.has(waiting_part::rendezvous) == core_.long_messages.is_waiting() &&
           marked.has(waiting_part::one_sided) == one_sided_.is_waiting() &&
           marked.has(waiting_part::receive_path) == receive_path_.is_waiting();
}

bool progress_engine::needs_memory() const noexcept {
    FULT_ASSERT(all_are_marked(), "a part that is not marked would never be retried");
    return core_.waiting.any_for_memory();
}

bool progress_engine::poll_transports() noexcept {
    core_.sends.count_poll();
    const bool any = receive_path_.poll();
    if (any)
        core_.sends.reset_ready_check();
    return any;
}

void progress_engine::check_flow() noexcept {
    if (!core_.flow.is_throttling())
        return;
    core_.flow.check();
    deliveries_.fetch_waiting();
}

void progress_engine::retry_for_room() noexcept {
    core_.windows.retry();
    core_.answers.retry();
    one_sided_.retry();
    core_.long_messages.retry();
    core_.sends.retry();
}

progress_engine::poll_result progress_engine::poll_once() noexcept {
    fult::detail::check_not_forked();
    device_mutex &mutex = core_.mutex;
    if (!mutex.try_lock())
        return poll_result::nothing;
    if (!core_.callbacks.is_idle()) [[unlikely]] { // possibly below this call; they go first
        mutex.unlock();
        return poll_result::callbacks_run;
    }
    core_.sends.flush_all();
    const bool any = poll_transports();
    check_flow();
    if (needs_room())
        retry_for_room();
    if (needs_memory()) {
        receive_path_.retry();
        arrivals_.retry_undelivered();
    }
    if (core_.sends.has_open_packets())
        core_.sends.flush_all();
    mutex.unlock();
    return any ? poll_result::something : poll_result::nothing;
}

bool progress_engine::progress() noexcept { return poll_once() == poll_result::something; }

bool progress_engine::poll() noexcept { return progress(); }

void progress_engine::progress_fairly() noexcept {
    const poll_result result = poll_once();
    if (result != poll_result::something)
        fult::detail::yield_if_processors_shared();
    if (result != poll_result::callbacks_run) // others that wait for this device could not go on anyway
        fult::detail::let_others_run_sometimes();
}

void progress_engine::resume_senders() noexcept {
    if (!core_.flow.is_throttling())
        return;
    const std::lock_guard hold(core_.mutex);
    check_flow();
    core_.sends.flush_all();
}

bool progress_engine::is_flushed_locked() noexcept {
    core_.sends.flush_all();
    return !core_.sends.has_open_packets() && !needs_room() &&
           core_.long_messages.receives_in_progress() == 0 && core_.under_way == 0 &&
           core_.callbacks.is_idle();
}

bool progress_engine::is_flushed() noexcept {
    const std::lock_guard hold(core_.mutex);
    return is_flushed_locked();
}

bool progress_engine::is_idle() noexcept {
    const std::lock_guard hold(core_.mutex);
    return is_flushed_locked() && core_.long_messages.offer_count() == 0;
}

device_traffic progress_engine::read_traffic() noexcept {
    const inspection hold(*this);
    const peer_table &peers = core_.peers;
    device_traffic all;
    all.is_calm = !needs_room() && !needs_memory() && core_.under_way == 0 &&
                  one_sided_.access_count() == 0 && core_.long_messages.receives_in_progress() == 0 &&
                  !peers.any_ended() && !peers.any_failing() && core_.callbacks.is_idle() &&
                  !core_.sends.has_gathered_records();
    for (int rank = 0; rank < peers.size(); ++rank)
        if (const peer &each = peers.of(rank); !each.failed.load(std::memory_order_relaxed)) {
            all.sent += each.records_sent;
            all.received += each.records_received;
        }
    return all;
}

// Waiting -------------------------------------------------------------------------------------------------------------

// Returns true if done() came true while nothing else was ready.
template <class Done> FULT_ALWAYS_INLINE bool progress_engine::wait_awake(Done done) noexcept {
    if (done())
        return true;
    bool is_done = false;
    progress_until([&] { return is_done = done(); });
    return is_done;
}

void progress_engine::wait(fult::detail::waiter &w, const fult::detail::waiting_for &wait) noexcept {
    fult::detail::check_not_forked();
    if (!w.is_suspended() && wait_awake([&] { return w.is_granted(); }))
        return;
    if (in_task()) // the poll has been done
        w.wait_at_once(wait);
    else
        w.wait(wait);
}

void progress_engine::wait(fult::detail::completion &ends, const fult::detail::waiting_for &wait) noexcept {
    fult::detail::check_not_forked();
    if (!wait_awake([&] { return ends.is_ready(); }))
        ends.wait(wait);
}

fult::detail::waiting_for progress_engine::end_of(const operation &op) noexcept {
    return {nullptr, &op,
            [](const void *object, fult::detail::wait_text which, char *text, std::size_t size) noexcept {
                const auto &its = *static_cast<const operation *>(object);
                which == fult::detail::wait_text::kind ? describe_wait(its, text, size)
                                                       : describe_unreceived(its, text, size);
            }};
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
    if (core_.mutex.try_lock())
        return true;
    if (inspections_.load(std::memory_order_relaxed) == 0)
        return false;
    core_.mutex.lock();
    return true;
}

bool progress_engine::transports_may_sleep() noexcept {
    for (const auto &each : core_.transports)
        if (!each->may_sleep())
            return false;
    return true;
}

bool progress_engine::prepare_sleep() noexcept {
    core_.sleep.begin();
    if (!lock_to_sleep()) { // another thread makes progress: there is work
        end_sleep();
        return false;
    }
    core_.sends.flush_all();
    bool calm = core_.callbacks.is_idle() && !poll_transports();
    for (unsigned polls = 0; calm && !transports_may_sleep(); ++polls)
        calm = polls < polls_per_step && !poll_transports(); // what arrived may not count
    if (calm)
        core_.sleep.announce(core_.sends.has_open_packets() || needs_room() || needs_memory() ||
                             core_.peers.any_ended());
    core_.mutex.unlock();
    if (!calm)
        end_sleep();
    return calm;
}

void progress_engine::count_timeout() noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.sleep.timed_out(needs_room() || core_.sends.has_gathered_records());
}

} // namespace fult::comm::detail
