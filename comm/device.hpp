// A device: transports, and the packets and messages in flight on them. Source: section 5.2 of Dang's
// dissertation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fult/detail/service.hpp>
#include <fult/sync/waiter.hpp>
#include <fult/this_task.hpp>

#include "comm/deadlock/probe.hpp"
#include "comm/id_table.hpp"
#include "comm/match/match_table.hpp"
#include "comm/operation.hpp"
#include "comm/packets/packet_pool.hpp"
#include "comm/peer.hpp"
#include "comm/transport.hpp"
#include "comm/wire.hpp"

namespace fult::comm::detail {

class endpoint_state;
class one_sided;
struct place_in_line;

struct device_settings {
    int rank = 0;
    int size = 1;
    std::size_t packet_size = 8192; // including the packet head
    std::size_t packets = 1024;
    std::size_t rendezvous = 0;
    std::size_t unexpected = std::size_t{256} << 20;
    bool gather = true;
    std::uint64_t secret = 0; // the job's; see wire.hpp
};

class device final : public fult::detail::service {
  public:
    // The transports are connected. route[rank] is the index of the transport to that rank, -1 for this rank.
    device(const device_settings &settings, std::vector<std::unique_ptr<transport>> transports,
           std::vector<int> routes);
    ~device();

    int rank() const noexcept { return settings_.rank; }
    int size() const noexcept { return settings_.size; }
    const transport *route(int rank) const noexcept { return peer_of(rank).via; }

    // Number of endpoints, without collective contexts.
    std::size_t endpoints() const noexcept;
    // Messages for an endpoint that is not attached yet are held until it is.
    void attach(endpoint_state &e); // throws std::bad_alloc
    void detach(endpoint_state &e) noexcept;

    // Any thread; none of these suspends ------------------------------------------------------------------------

    // Sends a message that fits a packet, if that is possible at once. Returns true if the bytes were copied.
    bool send_now(endpoint_state &from, int to, std::uint32_t tag, const void *data, std::size_t size);
    // Sends any message. s.finished is called, possibly before this returns.
    void send(sending &s) noexcept;
    // Posts a receive. r.finished is called, possibly before this returns.
    void post(receive &r) noexcept;
    // Withdraws a receive. Returns true if it was still posted; finished is not called then.
    bool cancel(receive &r) noexcept;
    // Completes a receive with a message that was taken from the match table for it.
    void meet(receive &r, arrived &m) noexcept;

    // Makes progress once, unless another thread does so now. Returns true if anything happened.
    bool progress() noexcept;
    // The same, for calls that are likely to be repeated until they succeed. Never suspends.
    void look() noexcept {
        if (!progress())
            fult::detail::yield_if_processors_shared();
    }
    // Makes progress until done() returns true, for a short time and only while nothing else is ready.
    template <class Done> void progress_until(Done done) noexcept {
        if (fult::detail::others_ready()) // they run first; their messages go out with the gathered ones
            return;
        if (in_task()) {
            fult::detail::poller poll;
            while (poll.step())
                for (unsigned i = 0; i < looks_a_step; ++i) {
                    progress();
                    if (done())
                        return;
                }
        } else {
            for (unsigned i = 0; i < looks_of_a_thread; ++i) {
                look();
                if (done())
                    return;
            }
        }
    }
    // Waits for the grant; makes progress while nothing else is ready. May suspend.
    void wait(fult::detail::waiter &w, const fult::detail::waiting_for &what = {}) noexcept;
    // The same for the end of an operation, which reports describe.
    void wait(fult::detail::waiter &w, const operation &what) noexcept;

    void fail_peer(int rank) noexcept; // the rank has ended: all operations with it fail
    // Sets what is notified of each rank that this device finds to have failed, or nullptr. Once, before the
    // progress engine starts.
    void tell_failures_to(class liveness *who) noexcept { watch_ = who; }
    bool has_failed(int rank) const noexcept { return peer_of(rank).failed.load(std::memory_order_acquire); }
    bool has_left(int rank) const noexcept { return peer_of(rank).left.load(std::memory_order_acquire); }
    // True if the job has other ranks and all of them have failed or left: any_source cannot be served.
    // why_alone: the error to report then.
    bool is_left_alone() const noexcept {
        return departed_.load(std::memory_order_acquire) == settings_.size - 1 && settings_.size > 1;
    }
    bool any_failed() const noexcept { return any_failed_.load(std::memory_order_acquire); }
    errc why_alone() const noexcept { return any_failed() ? errc::peer_failed : errc::peer_left; }
    // Both send gathered messages. handed_over: true if nothing of this rank is in flight, except messages
    // that wait here for their receives; quiet: including those.
    bool handed_over() noexcept;
    bool quiet() noexcept;
    // The reason why no more messages can come from source; none if they can.
    errc hopeless(int source) const noexcept;
    // The context of this rank ends: it posts no more receives. Unexpected messages, and those still to come,
    // are dropped, and the other ranks are notified.
    void leave() noexcept;
    // A collective cannot be completed here: no later one of that endpoint starts.
    void close(endpoint_state &collective_context) noexcept;
    // Drops a message that no receive will take.
    void discard(arrived &m) noexcept;
    // Bytes of a rank's unexpected messages that are held here. Any thread may call no_longer_unexpected, and
    // account for this rank; account for other ranks needs the lock.
    void account(int source, std::ptrdiff_t bytes) noexcept;
    void no_longer_unexpected(const status &about) noexcept;
    std::ptrdiff_t unexpected(int source) const noexcept {
        return peer_of(source).unexpected.load(std::memory_order_relaxed);
    }
    // Bytes of messages that enqueue has copied and that are still held. may_copy: true if so many more may
    // be.
    std::atomic<std::size_t> &copied() noexcept { return copied_; }
    bool may_copy(std::size_t size) const noexcept {
        const std::size_t now = copied_.load(std::memory_order_relaxed);
        return now == 0 || now + size <= settings_.unexpected;
    }
    // Called when memory has been freed: fetches messages that were left at their senders for lack of it.
    void relieve() noexcept;
    void leave_at_sender(int source, const rts_body &offer) noexcept; // permanently

    // Packets from outside the job, which were refused. Any thread.
    std::uint64_t strange_packets() const noexcept { return strange_.load(std::memory_order_relaxed); }

    // Describes messages of this rank that were dropped in this way; empty if there are none.
    std::string refused_sends() noexcept;
    // Describes pending operations, for reports.
    std::string pending_receives() noexcept;
    bool transports_empty() const noexcept { return transports_.empty(); }
    // Yields, or waits briefly, while something is expected. May suspend.
    void pause() noexcept;
    // For the deadlock watch (probing.cpp). hear_probes sets the listener, or nullptr.
    void hear_probes(probe_listener *who) noexcept;
    device_traffic look_at_traffic() noexcept;
    // From now on no rank is reported as failed: this rank and the others are about to end.
    void ignore_failures() noexcept;
    // Returns false if there is no free packet.
    bool send_probe(int rank, const probe_body &body) noexcept;
    // Sends a sign of life to that rank. Returns the number of such calls since its last packet arrived.
    unsigned show_life(int rank) noexcept;

    std::size_t eager_limit(int rank) const noexcept; // payload bytes that fit one packet
    match_table &matches() noexcept { return table_; }
    one_sided &remote_memory() noexcept { return *one_sided_; }

    // service ------------------------------------------------------------------------------------------------------
    bool poll() noexcept override { return progress(); }
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override;
    int descriptor() const noexcept override { return sleep_descriptor_; }
    int patience() const noexcept override { return pressed_ ? 1 : patience_; }
    bool is_judged() const noexcept override { return probes_.load(std::memory_order_relaxed) != nullptr; }
    // Once, before the first sleep. Throws std::system_error.
    void set_bells(std::unique_ptr<class doorbells> bells);

    // A dedicated thread makes progress; the workers need not.
    void serve_apart() noexcept { apart_ = true; }
    // Any thread: wakes the sleeping poller, or makes its next sleep return at once.
    void wake() noexcept;
    // For the progress thread, before end_sleep: its sleep timed out. overslept: number of sleeps during
    // which something had waited for that.
    void slept_out() noexcept;
    unsigned overslept() const noexcept { return overslept_.load(std::memory_order_relaxed); }

  private:
    friend class device_lock;
    friend class inspection;
    friend class one_sided;

    static constexpr unsigned looks_a_step = 4, looks_of_a_thread = 200; // polls before a sleep

    peer &peer_of(int rank) const noexcept { return peers_[static_cast<std::size_t>(rank)]; }

    void lock() noexcept;
    bool try_lock() noexcept;
    bool lock_to_sleep() noexcept;
    bool transports_may_sleep() noexcept;
    bool wait_awake(const fult::detail::waiter &w) noexcept;
    void unlock() noexcept;

    // Under the lock. Sending (sending.cpp):
    bool append(peer &to, record kind, std::uint8_t flags, std::uint16_t endpoint, std::uint32_t tag,
                std::span<const std::byte> first, std::span<const std::byte> second = {}) noexcept;
    bool flush(peer &to) noexcept;
    void flush_all() noexcept;
    void note_open(peer &to) noexcept;
    bool step(sending &s) noexcept; // false: no free packet, retry later
    void advance(peer &to) noexcept;
    bool answer(int rank, record kind, const void *body, std::size_t size) noexcept; // false: no memory
    bool tell(int rank, record kind) noexcept; // a record without content
    bool promise_answer() noexcept;
    void answer_promised(int rank, record kind, const void *body, std::size_t size) noexcept;
    void finish_sending(sending &s, errc failure) noexcept;
    void send_to_self(sending &s) noexcept;
    void send_held_answers() noexcept;
    void flush_unless_others_run(peer &to) noexcept;
    void press() noexcept;
    // True if something waits for packets or queue space, the availability of which is not signaled.
    bool needs_room() const noexcept {
        return stalled_ || waiting_ || one_sided_waits_ || blocked_ || !answers_.empty();
    }
    // The same for memory.
    bool needs_memory() const noexcept { return deferred_ || undelivered_; }

    // Receiving (receiving.cpp, deferring.cpp):
    bool poll_transports() noexcept;
    void handle(const event &e, std::size_t from) noexcept;
    // Return false if there is no memory for what arrived; nothing has changed then, and it is retried
    // (defer).
    bool handle_packet(packet &p, std::size_t from) noexcept;
    bool handle_records(record_reader &reader, packet &p) noexcept;
    bool refuse_packet(std::size_t from) noexcept;
    void received(packet &p, std::size_t from) noexcept;
    void give_back(packet &p, std::size_t to) noexcept;
    void defer(packet &p, std::size_t from) noexcept;
    void append_deferred(packet &p) noexcept;
    void retry_deferred() noexcept;
    void retry_undelivered() noexcept;
    bool admit_early(endpoint_state &e) noexcept;
    bool admit(endpoint_state &e, arrived &m) noexcept;
    void prefetch(std::span<const event> packets) const noexcept;
    void prefetch(int source, std::span<const record_view> messages) const noexcept;
    bool handle_record(int source, const record_view &r) noexcept;
    bool arrive(int source, const record_view &r) noexcept;
    bool message_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool rts_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool hold_early(int source, const record_view &r) noexcept;
    arrived *message_for(std::size_t payload) noexcept;
    void keep_spare(arrived *m) noexcept;
    void fill(receive &r, status about, std::span<const std::byte> bytes) noexcept;
    void begin_move(receive &r, const status &about, const rts_body &offer) noexcept;
    void start_transfer(receive &r) noexcept;
    void finish_receive(receive &r, errc failure) noexcept;
    void moved(transfer &t, bool well) noexcept;
    void data_arrived(int source, const record_view &r) noexcept;
    void cts_arrived(int source, const cts_body &body) noexcept;
    bool deliver_rts(endpoint_state &e, const status &about, const rts_body &offer) noexcept;
    void retry_all() noexcept;
    void check_slowed() noexcept;
    std::ptrdiff_t share() const noexcept {
        return static_cast<std::ptrdiff_t>(settings_.unexpected) / settings_.size;
    }
    bool has_room_for(endpoint_state &e, const status &about) const noexcept;
    void fetch(endpoint_state &e, place_in_line &place) noexcept;
    void fetch_offered() noexcept;
    void send_fin(int source, std::uint64_t id, std::uint64_t flags) noexcept;
    void fail_later(peer &who) noexcept; // when the lock is released
    void fail_now(peer &who) noexcept;

    // Ranks that leave (leaving.cpp):
    void refuse_messages() noexcept;
    void peer_leaves(int rank) noexcept;
    void end_receives(receive *first, int rank, errc why) noexcept;
    void refuse(int source, const rts_body &offer, id_flags why = id_too_long) noexcept;
    void post_packets();
    bool register_slab(void *base, std::size_t size, void *(&descriptor)[2]) noexcept;

    device_settings settings_;
    std::vector<std::unique_ptr<transport>> transports_;
    std::vector<transport_limits> limits_;
    match_table table_;
    struct slab {
        std::size_t transport;
        memory where;
    };
    std::vector<slab> slabs_; // registered memory of packets
    std::unique_ptr<packet_pool> packets_;
    std::unique_ptr<peer[]> peers_; // by rank
    std::unique_ptr<std::atomic<endpoint_state *>[]> endpoints_;

    std::atomic<int> departed_{0}; // peers that have failed or left
    std::atomic<bool> any_failed_{false};
    std::atomic<std::size_t> copied_{0};
    std::atomic<std::uint64_t> strange_{0};

    alignas(64) std::atomic<const void *> holder_{nullptr}; // the owning thread
    unsigned depth_ = 0;                                    // recursion depth

    peer *open_ = nullptr;       // peers whose open packet has not been sent
    id_table<sending> offered_;  // messages that wait here for their receivers, by id
    id_table<receive> filling_;  // receives into which parts arrive, by id
    sending *waiting_ = nullptr; // sends in parts that wait for packets
    receive *stalled_ = nullptr; // receives whose transfer waits for queue space
    struct held_answer {
        int rank;
        record kind;
        std::byte body[16];
        std::size_t size;
    };
    std::vector<held_answer> answers_; // protocol records that wait for packets
    std::size_t promised_ = 0;         // answers that are owed; answers_ has capacity for them
    arrived *spare_[2] = {};           // for the next message: one short, one long
    // Messages for endpoints that are not attached yet, or that had no memory for them; oldest first.
    struct early_messages {
        arrived *first = nullptr;
        arrived *last = nullptr;
        void append(arrived &m) noexcept;
        arrived *take() noexcept; // nullptr if empty
    };
    early_messages early_;
    early_messages take_early(unsigned endpoint) noexcept;
    std::size_t attached_ = 0; // endpoints
    std::vector<bool> gone_;   // endpoints that were detached, by id
    bool refusing_ = false;
    struct {
        std::size_t count = 0;
        status first; // by destination
    } refused_;       // messages that no receive took
    void note_refused(const status &about) noexcept;
    packet *deferred_ = nullptr; // received packets for whose records there was no memory, in order
    packet *last_deferred_ = nullptr;
    bool undelivered_ = false; // set if an endpoint had no memory to deliver messages that are here
    void note_undelivered() noexcept {
        undelivered_ = true;
        press();
    }
    bool told_no_memory_ = false;
    peer *blocked_ = nullptr;    // those with sends that wait for packets
    std::vector<peer *> doomed_; // about to fail
    // Number of peers that were asked to send RTS only, and of endpoints some of whose messages are left at
    // their senders.
    std::atomic<unsigned> slowed_{0};
    std::vector<endpoint_state *> lacking_room_;  // those endpoints
    std::vector<std::vector<packet *>> unposted_; // packets to receive into that are not posted, by transport
    std::uint64_t under_way_ = 0;                 // packets and transfers handed to transports

    std::unique_ptr<one_sided> one_sided_;
    bool one_sided_waits_ = false; // for packets or queue space

    std::unique_ptr<class doorbells> bells_;
    class liveness *watch_ = nullptr;
    std::atomic<unsigned> inspections_{0}; // threads that hold the lock to inspect, or are about to
    std::atomic<probe_listener *> probes_{nullptr};
    bool ignores_failures_ = false;
    unsigned silent_events_ = 0; // events of this poll that do not count
    int sleep_descriptor_ = -1;
    int wake_ = -1; // an eventfd in the sleep descriptor
    int patience_ = 1;
    bool pressed_ = false; // as it fell asleep: something waits without a signal
    bool apart_ = false;
    unsigned still_alone_ = 0;        // sends until it is checked again whether other tasks are ready
    std::atomic<bool> asleep_{false}; // set under the lock; threads that leave work behind wake the sleeper
    std::atomic<unsigned> overslept_{0};
};

// Recursive lock of a device.
class device_lock {
  public:
    explicit device_lock(device &d) noexcept : device_(d) { device_.lock(); }
    ~device_lock() { device_.unlock(); }
    device_lock(const device_lock &) = delete;
    device_lock &operator=(const device_lock &) = delete;

  private:
    device &device_;
};

} // namespace fult::comm::detail
