// A libfabric endpoint with its completion queue: the transport that open_fabric returns.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "comm/base/random_number.hpp"
#include "comm/fabric/fabric.hpp"
#include "comm/fabric/objects.hpp"
#include "comm/fabric/operations.hpp"
#include "comm/fabric/pieces.hpp"
#include "comm/fabric/staging.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

class fabric_endpoint final : public transport {
  public:
    explicit fabric_endpoint(const fabric_settings &settings);
    ~fabric_endpoint() override;

    const char *name() const noexcept override { return provider_.c_str(); }
    transport_limits limits() const noexcept override { return limits_; }

    std::string address() const override;
    void connect(std::span<const std::string> addresses) override;
    void unlink_names() noexcept override;

    outcome inject(int rank, const void *bytes, std::size_t size) noexcept override;
    outcome send(packet &p) noexcept override;
    outcome post(packet &p) noexcept override;
    outcome read(transfer &t) noexcept override;
    outcome write(transfer &t) noexcept override;
    unsigned poll(std::span<event> events) noexcept override;
    bool has_advanced(int rank) noexcept override;
    void forget(int rank) noexcept override;
    bool register_memory(memory &m, access_rights) noexcept override;
    void deregister_memory(memory &m) noexcept override;
    int descriptor() const noexcept override { return descriptor_; }
    bool may_sleep() noexcept override;

  private:
    void open_queue();
    bool open_wait_set() noexcept;
    void open_endpoint();
    fi_addr_t destination(int rank) const noexcept { return ranks_[static_cast<std::size_t>(rank)]; }
    outcome failure_of(long result, int rank) noexcept;
    template <class Call> outcome begin(work_request &request, int rank, Call call) noexcept;
    ssize_t move(const transfer &t, bool is_write, std::size_t offset, std::size_t size,
                 fabric_operation &op) noexcept;
    outcome start(transfer &t, bool is_write) noexcept;
    void begin_pieces(int rank) noexcept;
    bool begin_piece(transfer &t) noexcept;
    outcome start_piece(transfer &t, std::size_t size) noexcept;
    bool end_piece(fabric_operation *op, bool ok, event &e) noexcept;
    bool is_piece(const work_request &op) const noexcept {
        return op.kind == request_kind::transfer && !in_shared_memory_;
    }
    void abandon_piece(fabric_operation &op) noexcept;
    bool completed(const fi_cq_msg_entry &entry, event &e) noexcept;
    bool failed(event &e, const transfer *suspect) noexcept;
    unsigned read_queue(std::span<event> events, const transfer *suspect) noexcept;
    void drain(const transfer *last) noexcept;

    fabric_settings settings_;
    info_ptr info_;
    std::string provider_;
    transport_limits limits_;
    // Declared in order of creation; closed in reverse order.
    fid_ptr<fid_fabric> fabric_;
    fid_ptr<fid_domain> domain_;
    fid_ptr<fid_av> addresses_;
    fid_ptr<fid_wait> wait_set_; // if one is needed
    fid_ptr<fid_cq> queue_;
    fid_ptr<fid_ep> endpoint_;

    std::vector<fi_addr_t> ranks_; // FI_ADDR_NOTAVAIL: this rank, unreachable, or gone
    operations operations_;
    std::vector<rank_transfers> transfers_; // by rank
    bool is_staging_ = false;               // reads go through buffers_
    staging_buffers buffers_;
    bool stalled_ = false;     // the provider lacked room for a piece
    std::vector<event> early_; // read from the queue outside poll
    std::size_t early_begin_ = 0;
    request_queue abandoned_; // by forget
    std::uint64_t write_flags_ = 0;
    bool in_shared_memory_ = false;
    int descriptor_ = -1;
    std::string file_; // the name under which others find it, if any

    // Any process in the network that presents a key has access: so keys start at a random number.
    std::atomic<std::uint64_t> next_key_{random_number()};
    std::uint64_t key_mask_ = ~std::uint64_t{0}; // the bits that the provider supports
    std::mutex registered_mutex_;
    std::unordered_map<fid_mr *, fid_ptr<fid_mr>> registered_;
};

} // namespace fult::comm::detail
