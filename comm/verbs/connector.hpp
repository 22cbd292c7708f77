// Makes connections on demand. Each rank has a queue pair for datagrams, whose number the bootstrap
// distributes. Two ranks send each other the numbers of their reliable queue pairs in datagrams, repeated
// until they are answered:
//
//   ask      these are my numbers. The receiver connects its queue pair to them, and answers
//   confirm  these are my numbers, and I have yours: you may send
//
// A rank that was asked may send as well once it receives anything on the connection; if it needs to earlier,
// it asks. handshake.hpp has the stages. A greeting must carry the receiver's token, which only the ranks of
// the job know.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/verbs/address.hpp"
#include "comm/verbs/link.hpp"
#include "comm/verbs/ports.hpp"
#include "comm/verbs/verbs.hpp"

namespace fult::comm::detail {

// What connections use of the transport.
struct link_parts {
    const verbs_port &port;
    ibv_pd *domain;
    ibv_cq *queue;
    ibv_srq *receives;
    std::uint32_t inline_bytes;
    std::chrono::seconds silence; // after which a rank counts as dead
    std::uint8_t retries;         // of a packet that is not acknowledged
};

// How long a connection waits for an acknowledgment, as an exponent: 4.096 us * 2^it. The longest time for
// which all retries end within that silence. Not less: a host or a network that is slow, or pauses, is not
// dead.
std::uint8_t ack_timeout(std::chrono::seconds silence) noexcept;

// Makes a queue pair for a reliable connection; nullptr and errno if that fails.
verbs_ptr<ibv_qp> make_queue_pair(const link_parts &parts) noexcept;

// Under the device's lock.
class connector {
  public:
    // Throws std::runtime_error.
    connector(const link_parts &parts, int rank, verbs_counts &counts);
    connector(const connector &) = delete;
    connector &operator=(const connector &) = delete;

    static constexpr std::uint32_t buffers = 64; // of each direction

    verbs_address address() const noexcept;
    // Nothing: this rank itself, or a rank that is not reached this way.
    void set_ranks(std::vector<std::optional<verbs_address>> ranks);

    link *link_to(int rank) const noexcept { return links_[static_cast<std::size_t>(rank)].get(); }
    bool is_reachable(int rank) const noexcept { return ranks_[static_cast<std::size_t>(rank)].has_value(); }
    // A link on which this rank may send; nullptr if it is not connected yet, which this begins, or if it has
    // failed.
    link *ready_link(int rank) noexcept {
        link *const link = link_to(rank);
        if (link && link->state.is_ready()) [[likely]]
            return link;
        begin(rank);
        return nullptr;
    }
    bool has_failed(int rank) const noexcept {
        const link *const link = link_to(rank);
        return abandoned_[static_cast<std::size_t>(rank)] || (link && link->state.has_failed());
    }
    // One of its work requests has failed.
    void break_link(link &link) noexcept { fail(link, nullptr); }
    // No connection to it is made, and the one that there is has failed.
    void disconnect(int rank) noexcept;
    // Ranks whose failure must be reported by their marks.
    link *take_failed() noexcept;

    void greeting_received(const ibv_wc &wc) noexcept; // a greeting was received
    void greeting_sent(const ibv_wc &wc) noexcept;     // one was sent
    void received(std::uint32_t qp) noexcept;          // a message on a connection
    // Some links are not ready: received, and repeat_greetings from time to time, must be called.
    bool has_unready() const noexcept { return unready_ != 0; }
    void repeat_greetings() noexcept;

  private:
    struct slot {
        std::byte route[40]; // of the network, before the bytes that are received
        greeting bytes;
        std::byte unused[56];
    };
    static_assert(sizeof(slot) == 128 && sizeof(greeting) == 32 && offsetof(slot, bytes) == 40);

    void open_pair();
    void begin(int rank) noexcept;
    link *make_link(int rank) noexcept;
    bool connect(link &link, std::uint32_t qp_number, std::uint32_t psn) noexcept;
    bool send_greeting(link &link, greeting_kind kind) noexcept;
    void post_slot(std::uint32_t index) noexcept;
    void count_ready() noexcept; // a link is ready, or has failed before it was
    void fail(link &link, const char *call) noexcept;
    ibv_ah_attr path_to(const verbs_address &peer) const noexcept;

    const link_parts parts_;
    const int rank_;
    verbs_counts &counts_;
    std::uint64_t token_;
    std::uint32_t qkey_;
    std::vector<slot> slots_; // first those that receive
    verbs_ptr<ibv_mr> region_;
    verbs_ptr<ibv_qp> datagrams_;
    std::vector<std::uint32_t> free_; // slots for sending
    std::vector<std::optional<verbs_address>> ranks_;
    std::vector<std::unique_ptr<link>> links_;
    std::vector<bool> abandoned_;
    unsigned unready_ = 0;
    bool any_failed_ = false;
    bool has_reported_failure_ = false;
};

} // namespace fult::comm::detail
