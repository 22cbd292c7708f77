#include "comm/device/device.hpp"

#include <utility>

#include "comm/device/describe.hpp"
#include "comm/device/endpoint_state.hpp"

namespace fult::comm::detail {

device::device(const device_settings &settings, std::vector<std::unique_ptr<transport>> transports,
               const std::vector<int> &routes)
    : core_(settings, std::move(transports), routes),
      handlers_(core_),
      deliveries_(core_),
      arrivals_(core_, deliveries_),
      one_sided_(core_, arrivals_, progress_),
      departures_(core_, arrivals_, one_sided_, handlers_),
      receive_path_(core_, arrivals_, one_sided_, departures_, handlers_),
      progress_(core_, deliveries_, arrivals_, one_sided_, receive_path_) {
    core_.mutex.set_hook(*this);
}

device::~device() { core_.packets.end_transports(); }

// What callbacks send goes out as after each progress, at the latest.
void device::run_hook() noexcept {
    departures_.fail_scheduled();
    callback *due = core_.callbacks.begin();
    core_.mutex.release();
    while (due) {
        callback_queue::run(due);
        core_.mutex.lock();
        handlers_.reclaim();
        core_.sends.flush_all();
        departures_.fail_scheduled();
        due = core_.callbacks.take();
        core_.mutex.release();
    }
}

// Messages ------------------------------------------------------------------------------------------------------------

bool device::send_now(endpoint_state &e, int to, std::uint32_t tag, const void *data, std::size_t size) {
    if (size > core_.sends.eager_limit(to))
        return false;
    peer &p = core_.peers.of(to);
    if (!p.route) {
        arrivals_.send_to_self(e, tag, data, size);
        return true;
    }
    std::unique_lock hold(core_.mutex);
    if (!p.send_queue.empty() || p.rts_only || p.is_failing() ||
        !core_.sends.append(p, record::eager, 0, e.id, tag, {static_cast<const std::byte *>(data), size}))
        return false;
    if (core_.sends.flush_unless_others_run(p, sizeof(unexpected_message) + size)) [[unlikely]] {
        hold.unlock();
        progress_.progress();
    }
    return true;
}

void device::send(send_operation &s) noexcept {
    peer &p = core_.peers.of(s.rank);
    if (!p.route) {
        arrivals_.send_to_self(s);
        return;
    }
    const std::lock_guard hold(core_.mutex);
    s.kind = record::eager;
    const bool is_eager = !s.is_synchronous && s.size <= core_.sends.eager_limit(s.rank) && !p.rts_only;
    errc failure = p.is_failing() ? errc::peer_failed : errc::none;
    if (failure == errc::none && !is_eager && !core_.long_messages.offer(s))
        failure = errc::retry;
    if (failure != errc::none) {
        core_.sends.end(s, failure);
        return;
    }
    core_.sends.queue(s);
    core_.sends.flush_unless_others_run(p);
}

bool device::cancel(receive &r) noexcept { return r.endpoint->remove(r); }

// Endpoints -----------------------------------------------------------------------------------------------------------

void device::attach(endpoint_state &e, endpoint_state &collective_context) {
    const std::lock_guard hold(core_.mutex);
    deliveries_.reserve(2);
    if (e.has_end_handler())
        handlers_.reserve_ends(static_cast<std::size_t>(e.size));
    attach_locked(e);
    attach_locked(collective_context);
    if (e.has_end_handler() && core_.peers.any_departed())
        departures_.report_earlier(e);
}

void device::attach_locked(endpoint_state &e) noexcept {
    e.attachment = core_.endpoints.next_attachment();
    core_.endpoints.attach(e.id, e);
    if (e.is_collective_context && e.any_failed())
        e.closed.store(true, std::memory_order_release); // pairs with arrivals::post
    if (!arrivals_.admit_early_messages(e))
        deliveries_.mark_undelivered();
    if (e.closed.load(std::memory_order_relaxed))
        arrivals_.discard_all(e.take_messages());
}

void device::detach(endpoint_state &e) noexcept {
    {
        const std::lock_guard hold(core_.mutex);
        if (core_.endpoints.find(e.id) != &e)
            return; // it was never attached: its id may be used again
        core_.endpoints.detach(e.id);
        arrivals_.drop_early_messages(e.id);
        deliveries_.detach(e);
        if (e.has_end_handler())
            handlers_.release_ends(static_cast<std::size_t>(e.size));
    }
    handlers_.await_end_of(e.id);
    // No more come, and the search through the table delays no other thread.
    if (unexpected_message *const messages = e.take_messages()) {
        const std::lock_guard hold(core_.mutex);
        arrivals_.discard_all(messages);
    }
}

void device::expect_endpoint() noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.endpoints.expect();
}

void device::end_expected_endpoint() noexcept {
    const std::lock_guard hold(core_.mutex);
    if (core_.endpoints.end_expected())
        arrivals_.drop_detached_messages();
    core_.sends.flush_all();
}

std::size_t device::endpoints() const noexcept {
    std::size_t count = 0;
    core_.endpoints.each([&](const endpoint_state &e) { count += e.is_collective_context ? 0 : 1; });
    return count;
}

void device::close(endpoint_state &collective_context) noexcept {
    const std::lock_guard hold(core_.mutex);
    collective_context.closed.store(true, std::memory_order_release); // pairs with collective_call
    arrivals_.discard_all(collective_context.take_messages());
    core_.sends.flush_all();
}

void device::refuse_message(int source, const rts_body &rts) noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.long_messages.refuse(source, rts, core_.refusing ? id_never : id_too_long);
    core_.sends.flush_all();
}

// Ranks that are gone -------------------------------------------------------------------------------------------------

void device::fail_peer(int rank) noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.peers.schedule_failure(core_.peers.of(rank));
}

void device::end_peer(int rank) noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.peers.mark_ended(core_.peers.of(rank));
    core_.sleep.interrupt();
}

void device::ignore_failures() noexcept {
    progress_.inspect([&] { core_.peers.ignore_failures(); });
}

void device::set_failure_listener(liveness *listener) noexcept {
    const std::lock_guard hold(core_.mutex);
    departures_.set_failure_listener(listener);
}

unsigned device::send_heartbeat(int rank) noexcept {
    const std::lock_guard hold(core_.mutex);
    core_.answers.send(rank, record::heartbeat);
    core_.sends.flush_all();
    peer &peer = core_.peers.of(rank);
    // Packets that carry signs of life may be among those that wait, or behind the bytes of transfers.
    if (receive_path_.is_waiting() || (peer.route && peer.route->has_advanced(rank)))
        return peer.unanswered_heartbeats = 0;
    return ++peer.unanswered_heartbeats;
}

void device::leave() noexcept {
    const std::lock_guard hold(core_.mutex);
    departures_.leave();
}

bool device::may_close() noexcept {
    const std::lock_guard hold(core_.mutex);
    return departures_.may_close();
}

// The deadlock watch --------------------------------------------------------------------------------------------------

void device::set_probe_listener(probe_listener *listener) noexcept {
    progress_.inspect([&] { core_.probes.connect(listener); });
}

bool device::send_probe(int rank, const probe_body &body) noexcept {
    return progress_.inspect(
        [&] { return core_.sends.send_silently(core_.peers.of(rank), record::probe, bytes_of_body(body)); });
}

// Reports -------------------------------------------------------------------------------------------------------------

std::string device::describe_refusals() {
    const std::lock_guard hold(core_.mutex);
    return core_.long_messages.describe_refusals();
}

std::string device::pending_receives() {
    const std::lock_guard hold(core_.mutex);
    std::string text;
    const auto note = [&](std::size_t count, const std::string &what) {
        if (count != 0)
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    core_.endpoints.each([&](endpoint_state &e) {
        if (e.matches())
            note(e.waiting_receives(), "receive(s) on " + endpoint_name(e.id));
    });
    note(core_.long_messages.receives_in_progress(), "receive(s) whose message is coming in");
    note(one_sided_.access_count(), "put(s) and get(s)");
    note(one_sided_.regions(), "region(s) that were not destroyed");
    return text;
}

} // namespace fult::comm::detail
