// A device: transports, and the packets and messages in flight on them. Source: section 5.2 of Dang's
// dissertation.
//
// It consists of parts, each with its own state, in comm/protocol/ and here. Those that come first know
// none of the later ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fult/detail/service.hpp>
#include <fult/detail/waiter.hpp>

#include "comm/device/arrivals.hpp"
#include "comm/device/deliveries.hpp"
#include "comm/device/departures.hpp"
#include "comm/device/handler_calls.hpp"
#include "comm/device/one_sided.hpp"
#include "comm/device/progress.hpp"
#include "comm/device/receive_path.hpp"
#include "comm/protocol/probe.hpp"
#include "comm/protocol/protocol_core.hpp"

namespace fult::comm::detail {

class endpoint_state;
class liveness;

class device final : unlock_hook {
  public:
    // The transports are connected. route[rank] is the index of the transport to that rank, -1 for this rank.
    device(const device_settings &settings, std::vector<std::unique_ptr<transport>> transports,
           const std::vector<int> &routes);
    ~device();

    int rank() const noexcept { return core_.settings.rank; }
    int size() const noexcept { return core_.settings.size; }
    const transport *route(int rank) const noexcept { return core_.peers.of(rank).route; }
    const char *route_name(int rank) const noexcept { return route(rank) ? route(rank)->name() : "self"; }
    bool transports_empty() const noexcept { return core_.transports.empty(); }

    // Any thread; none of these suspends --------------------------------------------------------------------------

    // Sends a message at once, if it fits a packet and that is possible. Returns true if the bytes were
    // copied.
    bool send_now(endpoint_state &e, int to, std::uint32_t tag, const void *data, std::size_t size);
    // Sends any message. s.finished is called, possibly before this returns.
    void send(send_operation &s) noexcept;
    std::size_t eager_limit(int rank) const noexcept { return core_.sends.eager_limit(rank); }
    // Posts a receive. r.finished is called, possibly before this returns.
    void post(receive &r) noexcept { arrivals_.post(r); }
    // Receives a message that was taken from matching.
    void post(receive &r, unexpected_message &m) noexcept { arrivals_.receive_matched(r, m); }
    // Withdraws a receive. Returns true if it was still posted; finished is not called then.
    bool cancel(receive &r) noexcept;
    match_table &matches() noexcept { return arrivals_.table(); }
    one_sided &remote_memory() noexcept { return one_sided_; }
    flow_control &flow() noexcept { return core_.flow; }
    handler_calls &handlers() noexcept { return handlers_; }

    // Number of endpoints, without collective contexts.
    std::size_t endpoints() const noexcept;
    // Both or neither: an endpoint and its collective context. Messages for an endpoint that is not attached
    // yet are held until it is.
    void attach(endpoint_state &e, endpoint_state &collective_context); // throws std::bad_alloc
    void detach(endpoint_state &e) noexcept;
    // From before this rank offers ids for an endpoint until that is attached, or is not made.
    void expect_endpoint() noexcept;
    void end_expected_endpoint() noexcept;
    // A collective cannot be completed here: no later one of that endpoint starts.
    void close(endpoint_state &collective_context) noexcept;
    void refuse_message(int source, const rts_body &rts) noexcept; // permanently

    // Progress ------------------------------------------------------------------------------------------------------
    progress_engine &engine() noexcept { return progress_; }
    bool progress() noexcept { return progress_.progress(); }
    void progress_or_yield() noexcept { progress_.progress_or_yield(); }
    void progress_fairly() noexcept { progress_.progress_fairly(); }
    void pause() noexcept { progress_.pause(); }
    void wait(fult::detail::waiter &w) noexcept { progress_.wait(w); }
    template <class End, class What> void wait(End &end, const What &what) noexcept {
        progress_.wait(end, what);
    }
    void resume_senders() noexcept { progress_.resume_senders(); }
    bool is_flushed() noexcept { return progress_.is_flushed(); }
    bool is_idle() noexcept { return progress_.is_idle(); }
    device_sleep &sleep() noexcept { return core_.sleep; }
    // Once, before the first sleep. Throws std::system_error.
    void set_bells(std::unique_ptr<doorbells> bells) { core_.sleep.open(core_.transports, std::move(bells)); }

    // Ranks that are gone -------------------------------------------------------------------------------------------
    const peer_table &peers() const noexcept { return core_.peers; }
    bool has_failed(int rank) const noexcept { return core_.peers.has_failed(rank); }
    bool is_lost(int rank) const noexcept { return core_.peers.is_lost(rank); }
    bool has_left(int rank) const noexcept { return core_.peers.has_left(rank); }
    void fail_peer(int rank) noexcept; // the rank has ended: all operations with it fail
    void end_peer(int rank) noexcept;  // the same when all that it has sent before has been handled
    // From now on no rank is reported as failed: this rank and the others are about to end.
    void ignore_failures() noexcept;
    // Sets what is notified of each rank that this device finds to have failed, or nullptr.
    void set_failure_listener(liveness *listener) noexcept;
    // Sends a sign of life to that rank. Returns the number of such calls since its last packet arrived.
    unsigned send_heartbeat(int rank) noexcept;
    void leave() noexcept;     // departures::leave
    bool may_close() noexcept; // departures::may_close

    // For the deadlock watch ----------------------------------------------------------------------------------------
    void set_probe_listener(probe_listener *listener) noexcept; // or nullptr
    device_traffic read_traffic() noexcept { return progress_.read_traffic(); }
    // Returns false if there is no free packet.
    bool send_probe(int rank, const probe_body &body) noexcept;

    // Reports -------------------------------------------------------------------------------------------------------
    // Packets from outside the job, which were refused.
    std::uint64_t refused_packets() const noexcept { return receive_path_.refused_packets(); }
    // Describes messages of this rank that no receive took; empty if there are none.
    std::string describe_refusals(); // throws std::bad_alloc
    // Describes pending operations.
    std::string pending_receives(); // throws std::bad_alloc

  private:
    void run_hook() noexcept override; // unlock_hook
    void attach_locked(endpoint_state &e) noexcept;

    protocol_core core_;
    handler_calls handlers_;
    deliveries deliveries_;
    arrivals arrivals_;
    one_sided one_sided_;
    departures departures_;
    receive_path receive_path_;
    progress_engine progress_;
};

} // namespace fult::comm::detail
