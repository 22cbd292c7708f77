// A device: transports, the packets and messages under way on them, and the server that makes progress.
// Source: section 5.2 of Dang's dissertation.
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
    std::size_t packet_size = 8192; // with the packet's head
    std::size_t packets = 1024;
    std::size_t rendezvous = 0;
    std::size_t unexpected = std::size_t{256} << 20;
    bool gather = true;
    std::uint64_t secret = 0; // of the job: wire.hpp
};

class device final : public fult::detail::service {
  public:
    // The transports are connected; route[rank] is the index of the one that reaches it, -1 for the rank
    // itself.
    device(const device_settings &settings, std::vector<std::unique_ptr<transport>> transports,
           std::vector<int> routes);
    ~device();

    int rank() const noexcept { return settings_.rank; }
    int size() const noexcept { return settings_.size; }
    const transport *route(int rank) const noexcept { return peer_of(rank).via; }

    // How many endpoints there are, companions aside.
    std::size_t endpoints() const noexcept;
    // Endpoints. Messages for one that is not there yet wait for it.
    void attach(endpoint_state &e); // throws std::bad_alloc
    void detach(endpoint_state &e) noexcept;

    // Any thread; none of these suspends ------------------------------------------------------------------------

    // A message that fits a packet, if it can be handed over at once; then the bytes are copied.
    bool send_now(endpoint_state &from, int to, std::uint32_t tag, const void *data, std::size_t size);
    // Any message; s.finished follows, perhaps before this returns.
    void send(sending &s) noexcept;
    // A receive; r.finished follows, perhaps before this returns.
    void post(receive &r) noexcept;
    // Takes it back; whether it was still there. finished is not called then.
    bool cancel(receive &r) noexcept;
    // A receive meets a message that was taken out for it.
    void meet(receive &r, arrived &m) noexcept;

    // Makes progress once, unless somebody else does just now; whether anything happened.
    bool progress() noexcept;
    // The same for a call that is likely to be repeated until it finds something. Never suspends.
    void look() noexcept {
        if (!progress())
            fult::detail::yield_if_processors_shared();
    }
    // Makes progress until done() says so, while there is nothing else to do and it does not take long.
    template <class Done> void progress_until(Done done) noexcept {
        if (fult::detail::others_ready()) // they come first; messages of theirs go along with what is
                                          // gathered
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
    // Waits for the grant, and makes progress while there is nothing else to do. This one suspends.
    void wait(fult::detail::waiter &w, const fult::detail::waiting_for &what = {}) noexcept;
    // The same for the end of an operation, which a report then describes.
    void wait(fult::detail::waiter &w, const operation &what) noexcept;

    void fail_peer(int rank) noexcept; // it has ended: whatever waits for it fails
    // Who is told of each rank that this device finds to have ended; null: nobody. Once, before it is served.
    void tell_failures_to(class liveness *who) noexcept { watch_ = who; }
    bool has_failed(int rank) const noexcept { return peer_of(rank).failed.load(std::memory_order_acquire); }
    bool has_left(int rank) const noexcept { return peer_of(rank).left.load(std::memory_order_acquire); }
    // Whether there are other ranks in this job and all of them have failed or left: nobody is there to serve
    // any_source. Which error that is.
    bool is_left_alone() const noexcept {
        return departed_.load(std::memory_order_acquire) == settings_.size - 1 && settings_.size > 1;
    }
    bool any_failed() const noexcept { return any_failed_.load(std::memory_order_acquire); }
    errc why_alone() const noexcept { return any_failed() ? errc::peer_failed : errc::peer_left; }
    // Sends what is gathered and tells whether nothing of this rank's is under way any more: but for messages
    // that wait here for their receives, and with them.
    bool handed_over() noexcept;
    bool quiet() noexcept;
    // Why nothing more can come from that source; none: something can.
    errc hopeless(int source) const noexcept;
    // This rank's context ends. No receive will come any more: messages that wait for one, and those still to
    // come, are given up, and the other ranks know.
    void leave() noexcept;
    // A collective cannot be completed here: no later one of that endpoint begins.
    void close(endpoint_state &companion) noexcept;
    // A message that nobody will receive.
    void discard(arrived &m) noexcept;
    // Bytes of a rank's messages that wait here for somebody to ask for them; no_longer_unexpected: any
    // thread, as account for this rank's own. Others' are counted under the lock.
    void account(int source, std::ptrdiff_t bytes) noexcept;
    void no_longer_unexpected(const status &about) noexcept;
    std::ptrdiff_t unexpected(int source) const noexcept {
        return peer_of(source).unexpected.load(std::memory_order_relaxed);
    }
    // Bytes of messages that enqueue has copied and that are still here; whether so many more may be.
    std::atomic<std::size_t> &copied() noexcept { return copied_; }
    bool may_copy(std::size_t size) const noexcept {
        const std::size_t now = copied_.load(std::memory_order_relaxed);
        return now == 0 || now + size <= settings_.unexpected;
    }
    // When there is room again: what was left at its sender for want of it is fetched.
    void relieve() noexcept;
    void leave_at_sender(int source, const offer_body &offer) noexcept; // for good

    // Packets that came from elsewhere than the job's ranks, and were refused. Any thread.
    std::uint64_t strange_packets() const noexcept { return strange_.load(std::memory_order_relaxed); }

    // Messages of this rank that were given up so, in words; empty: none.
    std::string refused_sends() noexcept;
    // What is pending, for people.
    std::string pending_receives() noexcept;
    bool transports_empty() const noexcept { return transports_.empty(); }
    // Lets others run, or waits for a moment, while something is expected. May suspend.
    void pause() noexcept;
    // For who finds out whether all ranks wait (probing.cpp). Who hears of probes; null: nobody.
    void hear_probes(probe_listener *who) noexcept;
    device_traffic look_at_traffic() noexcept;
    // From here on no rank is found to have failed: this one ends soon, and so do the others.
    void ignore_failures() noexcept;
    // False: no room now.
    bool send_probe(int rank, const probe_body &body) noexcept;
    // Tells that rank that this one lives; after how many such calls without a word of it this one is.
    unsigned show_life(int rank) noexcept;

    std::size_t eager_limit(int rank) const noexcept; // bytes that go in one packet
    match_table &matches() noexcept { return table_; }
    one_sided &remote_memory() noexcept { return *one_sided_; }

    // service ------------------------------------------------------------------------------------------------------
    bool poll() noexcept override { return progress(); }
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override;
    int descriptor() const noexcept override { return sleep_descriptor_; }
    int patience() const noexcept override { return pressed_ ? 1 : patience_; }
    bool is_judged() const noexcept override { return probes_.load(std::memory_order_relaxed) != nullptr; }
    // Before anybody sleeps, once. Throws std::system_error.
    void set_bells(std::unique_ptr<class doorbells> bells);

    // A thread beside the workers serves it, and nobody else has to.
    void serve_apart() noexcept { apart_ = true; }
    // Any thread: ends the sleep of who sleeps for it, or the next one.
    void wake() noexcept;
    // For the server, before end_sleep: time ended its sleep. How often something had waited for that.
    void slept_out() noexcept;
    unsigned overslept() const noexcept { return overslept_.load(std::memory_order_relaxed); }

  private:
    friend class device_lock;
    friend class inspection;
    friend class one_sided;

    static constexpr unsigned looks_a_step = 4, looks_of_a_thread = 200; // before a sleep

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
    bool step(sending &s) noexcept; // false: no room, try again later
    void advance(peer &to) noexcept;
    bool answer(int rank, record kind, const void *body, std::size_t size) noexcept; // false: no memory
    bool tell(int rank, record kind) noexcept; // one that says all by its kind
    bool promise_answer() noexcept;
    void answer_promised(int rank, record kind, const void *body, std::size_t size) noexcept;
    void finish_sending(sending &s, errc failure) noexcept;
    void send_to_self(sending &s) noexcept;
    void send_held_answers() noexcept;
    void flush_unless_others_run(peer &to) noexcept;
    void press() noexcept;
    // Whether something found no room, which nobody announces.
    bool needs_room() const noexcept {
        return stalled_ || waiting_ || one_sided_waits_ || blocked_ || !answers_.empty();
    }
    // The same for memory.
    bool needs_memory() const noexcept { return deferred_ || undelivered_; }

    // Receiving (receiving.cpp, deferring.cpp):
    bool poll_transports() noexcept;
    void handle(const event &e, std::size_t from) noexcept;
    // What has no memory for what came says false: nothing has changed, and it is tried again (defer).
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
    void bring_near(std::span<const event> packets) const noexcept;
    void bring_near(int source, std::span<const record_view> messages) const noexcept;
    bool handle_record(int source, const record_view &r) noexcept;
    bool arrive(int source, const record_view &r) noexcept;
    bool message_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool offer_arrived(endpoint_state &e, int source, const record_view &r) noexcept;
    bool hold_early(int source, const record_view &r) noexcept;
    arrived *message_for(std::size_t payload) noexcept;
    void keep_spare(arrived *m) noexcept;
    void fill(receive &r, status about, std::span<const std::byte> bytes) noexcept;
    void begin_move(receive &r, const status &about, const offer_body &offer) noexcept;
    void start_transfer(receive &r) noexcept;
    void finish_receive(receive &r, errc failure) noexcept;
    void moved(transfer &t, bool well) noexcept;
    void part_arrived(int source, const record_view &r) noexcept;
    void wanted_elsewhere(int source, const wanted_body &body) noexcept;
    bool deliver_offer(endpoint_state &e, const status &about, const offer_body &offer) noexcept;
    void retry_all() noexcept;
    void check_slowed() noexcept;
    std::ptrdiff_t share() const noexcept {
        return static_cast<std::ptrdiff_t>(settings_.unexpected) / settings_.size;
    }
    bool has_room_for(endpoint_state &e, const status &about) const noexcept;
    void fetch(endpoint_state &e, place_in_line &place) noexcept;
    void fetch_offered() noexcept;
    void tell_taken(int source, std::uint64_t id, std::uint64_t flags) noexcept;
    void fail_later(peer &who) noexcept; // when the lock is given back
    void fail_now(peer &who) noexcept;

    // Ranks that leave (leaving.cpp):
    void refuse_messages() noexcept;
    void peer_leaves(int rank) noexcept;
    void end_receives(receive *first, int rank, errc why) noexcept;
    void refuse(int source, const offer_body &offer, id_flags why = id_too_long) noexcept;
    void post_packets();
    bool enroll_slab(void *base, std::size_t size, void *(&descriptor)[2]) noexcept;

    device_settings settings_;
    std::vector<std::unique_ptr<transport>> transports_;
    std::vector<transport_limits> limits_;
    match_table table_;
    struct slab {
        std::size_t transport;
        memory where;
    };
    std::vector<slab> slabs_; // registered memory of the packets
    std::unique_ptr<packet_pool> packets_;
    std::unique_ptr<peer[]> peers_; // by rank
    std::unique_ptr<std::atomic<endpoint_state *>[]> endpoints_;

    std::atomic<int> departed_{0}; // peers that have failed or left
    std::atomic<bool> any_failed_{false};
    std::atomic<std::size_t> copied_{0};
    std::atomic<std::uint64_t> strange_{0};

    alignas(64) std::atomic<const void *> holder_{nullptr}; // the thread that has the lock
    unsigned depth_ = 0;                                    // how often

    peer *open_ = nullptr;       // peers whose packet waits to be sent
    id_table<sending> offered_;  // messages that wait here for their receivers
    id_table<receive> filling_;  // receives into which parts come
    sending *waiting_ = nullptr; // sends in parts that found no room
    receive *stalled_ = nullptr; // receives whose transfer found no room
    struct held_answer {
        int rank;
        record kind;
        std::byte body[16];
        std::size_t size;
    };
    std::vector<held_answer> answers_; // the protocol's own records that found no room
    std::size_t promised_ = 0;         // answers that are owed, for which there is room in the list
    arrived *spare_[2] = {};           // for the next message, a short and a long one
    // For endpoints that are not there yet, or that have no memory for them; oldest first.
    struct early_messages {
        arrived *first = nullptr;
        arrived *last = nullptr;
        void append(arrived &m) noexcept;
        arrived *take() noexcept; // null: there is none
    };
    early_messages early_;
    early_messages take_early(unsigned endpoint) noexcept;
    std::size_t attached_ = 0; // endpoints
    std::vector<bool> gone_;   // endpoints that were there, by number
    bool refusing_ = false;
    struct {
        std::size_t count = 0;
        status first; // by destination
    } refused_;       // messages that nobody received
    void note_refused(const status &about) noexcept;
    packet *deferred_ = nullptr; // received, and there was no memory for what is in them; in order
    packet *last_deferred_ = nullptr;
    bool undelivered_ = false; // so are messages for endpoints that deliver
    void note_undelivered() noexcept {
        undelivered_ = true;
        press();
    }
    bool told_no_memory_ = false;
    peer *blocked_ = nullptr;    // with sends that found no room
    std::vector<peer *> doomed_; // to fail
    // Peers that were told to offer only, and endpoints some of whose messages wait at their senders.
    std::atomic<unsigned> slowed_{0};
    std::vector<endpoint_state *> lacking_room_;  // the latter
    std::vector<std::vector<packet *>> unposted_; // packets to receive into, by transport
    std::uint64_t under_way_ = 0;                 // packets and transfers handed to transports

    std::unique_ptr<one_sided> one_sided_;
    bool one_sided_waits_ = false; // for room

    std::unique_ptr<class doorbells> bells_;
    class liveness *watch_ = nullptr;
    std::atomic<unsigned> inspections_{0}; // threads that hold the lock to look, or are about to
    std::atomic<probe_listener *> probes_{nullptr};
    bool ignores_failures_ = false;
    unsigned silent_events_ = 0; // among those of this poll
    int sleep_descriptor_ = -1;
    int wake_ = -1; // an eventfd among what is slept on
    int patience_ = 1;
    bool pressed_ = false; // as the sleeper left: something waits for room, which nobody announces
    bool apart_ = false;
    unsigned still_alone_ = 0; // so many messages go out without asking whether there are others to wait for
    std::atomic<bool> asleep_{false}; // set under the lock. Who leaves work behind must wake the sleeper
    std::atomic<unsigned> overslept_{0};
};

// Held by one thread; it may take it again.
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
