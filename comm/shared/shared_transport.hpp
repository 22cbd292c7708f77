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
        return {.inject = shape_.most,
                .message = shape_.most,
                .one_sided = one_sided_,
                .stops_writes = true,
                .keeps = true};
    }

    std::string address() const override;
    void connect(std::span<const std::string> addresses) override;
    void conceal() noexcept override;

    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override;
    outcome send(packet &p) noexcept override;
    outcome post(packet &p) noexcept override;
    outcome read(transfer &t) noexcept override { return move(t, direction::here); }
    outcome write(transfer &t) noexcept override { return move(t, direction::there); }
    unsigned poll(std::span<event> events) noexcept override;
    bool has_taken_all(int rank) noexcept override;
    bool holds_packet_of(int rank) noexcept override;
    void forget(int rank) noexcept override;
    bool register_memory(memory &m) noexcept override;
    void deregister_memory(memory &) noexcept override {}
    bool may_sleep() noexcept override { return !moving_ && !ended_ && accused_.empty(); }

  private:
    // Another rank of this host.
    struct link {
        ring_writer out;
        bool reachable = false;
        bool used = false; // a message has gone through its ring
        slot_word *word = nullptr;
        std::uint64_t bit = 0; // this rank's bit in the word

        ring_reader in;
        bool watched = false;
        bool heard = true; // false: it wrote invalid data, and its ring is ignored
        unsigned idle = 0; // consecutive unsuccessful polls

        int rank = -1;
        pid_t process = 0;
        mapping head; // of its segment
        mapping ring; // this rank's ring in that segment
    };
    // Operations about to be reported, in order: linked by the provider's notes.
    struct queue {
        posted *first = nullptr;
        posted *last = nullptr;
        explicit operator bool() const noexcept { return first != nullptr; }
        void add(posted &what) noexcept;
        posted *take() noexcept;
    };

    link *to(int rank) noexcept { return by_rank_[static_cast<std::size_t>(rank)]; }
    void meet(link &other, const std::string &address, std::size_t own_slot);
    outcome move(transfer &t, direction to) noexcept;
    void end(posted &what, event::kind how) noexcept;
    void move_on() noexcept;
    void find_filled() noexcept;
    unsigned drain(link &from, std::span<event> events) noexcept;
    void accuse(link &who) noexcept;

    shared_settings settings_;
    std::string file_;
    bool concealed_ = false;
    segment_shape shape_;
    file own_; // until connect
    mapping own_head_;
    mapping own_rings_;
    std::uint64_t token_; // read by other ranks to check that copies work
    bool one_sided_ = false;
    bool tell_ = false; // ranks notify by bits

    std::unique_ptr<link[]> links_; // by slot: ranks of this host in order
    std::size_t slots_ = 0;
    std::vector<link *> by_rank_; // nullptr: not on this host
    std::vector<link *> watched_; // rings that are polled
    std::size_t next_ = 0;        // index in watched_ at which the next round starts
    std::vector<link *> accused_; // to be reported
    packet *posted_ = nullptr;    // last in, first out: the newest is in the cache
    queue moving_;                // transfers, oldest first
    queue ended_;                 // to be reported
    std::atomic<std::uint64_t> next_key_{1};
};

} // namespace fult::comm::detail
