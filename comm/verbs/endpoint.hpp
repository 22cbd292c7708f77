// The transport that open_verbs returns.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "comm/transport/transport.hpp"
#include "comm/verbs/connector.hpp"
#include "comm/verbs/ports.hpp"
#include "comm/verbs/registrations.hpp"
#include "comm/verbs/verbs.hpp"

namespace fult::comm::detail {

class verbs_endpoint final : public transport {
  public:
    explicit verbs_endpoint(const verbs_settings &settings);
    ~verbs_endpoint() override;

    const char *name() const noexcept override { return "verbs"; }
    transport_limits limits() const noexcept override { return limits_; }

    std::string address() const override;
    void connect(std::span<const std::string> addresses) override;

    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override;
    outcome send(packet &p) noexcept override;
    outcome post(packet &p) noexcept override;
    outcome read(transfer &t) noexcept override;
    outcome write(transfer &t) noexcept override;
    unsigned poll(std::span<event> events) noexcept override;
    bool has_advanced(int rank) noexcept override;
    void forget(int rank) noexcept override;
    bool register_memory(memory &m, access_rights allowed) noexcept override;
    void deregister_memory(memory &m) noexcept override;
    int descriptor() const noexcept override { return channel_ ? channel_->fd : -1; }
    bool may_sleep() noexcept override;
    std::string report() const override;

    const verbs_counts &counts() const noexcept;
    // Throws std::runtime_error if so much memory cannot be registered.
    void try_to_lock(std::size_t bytes) const;

  private:
    void open_queues();
    void find_inline_limit();
    link_parts parts() const noexcept; // with the inline limit as it is
    link *acquire_link(int rank, std::uint32_t requests, outcome &failure) noexcept;
    outcome submit(link &link, ibv_send_wr &first, std::uint32_t count) noexcept;
    outcome start_transfer(transfer &t, ibv_wr_opcode opcode) noexcept;
    outcome post_part(link &link, transfer &t) noexcept;
    void continue_transfers() noexcept;
    void post_receives() noexcept;
    bool completed(const ibv_wc &wc, event &e) noexcept;
    bool received(const ibv_wc &wc, event &e) noexcept;
    bool request_ended(const ibv_wc &wc, event &e) noexcept;
    unsigned read_queue(std::span<event> events) noexcept;
    unsigned take_early(std::span<event> events) noexcept;
    void keep_early(const event &e) noexcept;
    bool take_event() noexcept;

    verbs_settings settings_;
    verbs_port port_;
    transport_limits limits_;
    mutable verbs_counts counts_;
    // Declared in order of creation; closed in reverse order.
    verbs_ptr<ibv_pd> domain_;
    std::unique_ptr<domain_registrar> registrar_;
    std::unique_ptr<registrations> memory_;
    verbs_ptr<ibv_comp_channel> channel_; // if a descriptor was requested
    verbs_ptr<ibv_cq> queue_;
    verbs_ptr<ibv_srq> receives_;
    std::unique_ptr<connector> connector_;

    static constexpr std::uint32_t receive_batch = 16;
    std::array<packet *, receive_batch> unposted_{}; // to be posted together
    std::uint32_t unposted_count_ = 0;
    std::uint32_t posted_ = 0;     // to the shared queue
    std::uint32_t max_posted_ = 0; // its room
    std::uint32_t in_flight_ = 0;  // work requests of all links
    std::uint32_t budget_ = 0;     // for which the completion queue has room
    // Of so many work requests without an object one has a completion: all links together hold less than half
    // of the budget.
    std::uint32_t signal_every_ = 1;
    std::vector<event> early_; // read from the queue outside poll, or without an operation; has capacity
    std::size_t early_begin_ = 0;
    std::vector<transfer *> stalled_; // parts are left, and wait for room
    // Sleeping: the next completion makes the descriptor readable; one was seen since; may_sleep has returned
    // true since.
    bool armed_ = false, spent_ = false, may_have_slept_ = false;
};

} // namespace fult::comm::detail
