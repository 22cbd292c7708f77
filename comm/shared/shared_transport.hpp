// The transport that open_shared returns.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "comm/shared/copying.hpp"
#include "comm/shared/ring.hpp"
#include "comm/shared/segment.hpp"
#include "comm/shared/shared.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

class shared_transport final : public transport {
  public:
    explicit shared_transport(const shared_settings &settings);
    ~shared_transport() override;

    const char *name() const noexcept override { return "shared"; }
    transport_limits limits() const noexcept override {
        return {.inject = shape_.max_message,
                .message = shape_.max_message,
                .one_sided = one_sided_,
                .stops_writes = true,
                .delivers_after_close = true};
    }

    std::string address() const override;
    void connect(std::span<const std::string> addresses) override;
    void unlink_names() noexcept override;

    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override;
    outcome send(packet &p) noexcept override;
    outcome post(packet &p) noexcept override;
    outcome read(transfer &t) noexcept override { return move(t, direction::read); }
    outcome write(transfer &t) noexcept override { return move(t, direction::write); }
    unsigned poll(std::span<event> events) noexcept override;
    bool has_received_all(int rank) noexcept override;
    bool has_packet_of(int rank) noexcept override;
    void forget(int rank) noexcept override;
    bool register_memory(memory &m, access_rights) noexcept override;
    void deregister_memory(memory &) noexcept override {}
    bool may_sleep() noexcept override {
        return transfers_.empty() && finished_.empty() && rejected_.empty();
    }

  private:
    // Another rank of this host.
    struct link {
        ring_writer writer;
        bool is_reachable = false;
        bool has_sent = false; // a message has gone through its ring
        slot_word *word = nullptr;
        std::uint64_t bit = 0; // this rank's bit in the word

        ring_reader reader;
        bool is_polled = false;
        bool is_valid = true;    // false: it wrote invalid data, and its ring is ignored
        unsigned idle_polls = 0; // consecutive unsuccessful polls

        int rank = -1;
        pid_t process = 0;
        mapping head; // of its segment
        mapping ring; // this rank's ring in that segment
    };

    link *link_of(int rank) noexcept { return by_rank_[static_cast<std::size_t>(rank)]; }
    void connect_link(link &peer, const std::string &address, std::size_t own_slot);
    outcome move(transfer &t, direction way) noexcept;
    void finish(work_request &request, event_kind kind) noexcept;
    void continue_transfer() noexcept;
    void poll_slot_words() noexcept;
    unsigned drain(link &peer, std::span<event> events) noexcept;
    void reject(link &peer) noexcept;

    shared_settings settings_;
    std::string file_;
    bool names_unlinked_ = false;
    segment_shape shape_;
    file segment_; // until connect
    mapping own_head_;
    mapping own_rings_;
    std::uint64_t token_; // read by other ranks to check that copies work
    bool one_sided_ = false;
    bool notifies_by_bit_ = false; // ranks notify by bits

    std::unique_ptr<link[]> links_; // by slot: ranks of this host in order
    std::size_t slots_ = 0;
    std::vector<link *> by_rank_;  // nullptr: not on this host
    std::vector<link *> polled_;   // rings that are polled
    std::size_t next_polled_ = 0;  // index in polled_ at which the next round starts
    std::vector<link *> rejected_; // to be reported
    packet *posted_ = nullptr;     // last in, first out: the newest is in the cache
    request_queue transfers_;      // transfers, oldest first
    request_queue finished_;       // to be reported
    std::atomic<std::uint64_t> next_key_{1};
};

} // namespace fult::comm::detail
