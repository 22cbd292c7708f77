#include "comm/verbs/connector.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/base/random_number.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::uint32_t number_mask = (1U << number_bits) - 1;
constexpr std::uint32_t privileged_qkey = 0x8000'0000; // keys with this bit are the kernel's

// Limits of a connection. An acknowledgment is waited for (ack_timeout), and asked for so many times
// (verbs_settings::retries); then the other side is unreachable. A receiver without buffers is not: its
// memory is short, or its processors are busy, and it is waited for without limit (7), as senders are slowed
// rather than failed. It is tried again after 0.64 ms (12).
constexpr std::uint8_t max_ack_retries = 7, no_receive_retries = 7, no_receive_delay = 12;

constexpr std::uint8_t max_reads = 16; // in flight in a connection

std::uint8_t reads_of(const verbs_port &port, int limit) {
    return static_cast<std::uint8_t>(
        std::clamp(std::min(limit, port.limits.max_qp_rd_atom), 1, int{max_reads}));
}

int to_init(const link_parts &parts, ibv_qp *pair) noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = parts.port.number;
    attributes.qp_access_flags =
        IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE; // of memory whose key permits it
    return libibverbs().modify_qp(pair, &attributes,
                                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int to_receive(const link_parts &parts, ibv_qp *pair, const ibv_ah_attr &path, const verbs_address &peer,
               std::uint32_t qp_number, std::uint32_t psn) noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    attributes.path_mtu = std::min(parts.port.attributes.active_mtu, static_cast<ibv_mtu>(peer.mtu));
    attributes.dest_qp_num = qp_number;
    attributes.rq_psn = psn;
    attributes.max_dest_rd_atomic = reads_of(parts.port, max_reads);
    attributes.min_rnr_timer = no_receive_delay;
    attributes.ah_attr = path;
    return libibverbs().modify_qp(pair, &attributes,
                                  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int to_send(const link_parts &parts, ibv_qp *pair, std::uint32_t psn) noexcept {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    attributes.timeout = ack_timeout(parts.silence);
    FULT_ASSERT(parts.retries <= max_ack_retries);
    attributes.retry_cnt = parts.retries;
    attributes.rnr_retry = no_receive_retries;
    attributes.sq_psn = psn;
    attributes.max_rd_atomic = reads_of(parts.port, parts.port.limits.max_qp_init_rd_atom);
    return libibverbs().modify_qp(pair, &attributes,
                                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

} // namespace

std::uint8_t ack_timeout(std::chrono::seconds silence) noexcept {
    constexpr std::chrono::nanoseconds unit{4096};
    constexpr std::uint8_t least = 14, most = 18;    // 67 ms, 1.07 s
    constexpr int waits = (max_ack_retries + 1) * 4; // adapters may wait up to four times as long
    std::uint8_t exponent = least;
    while (exponent < most && unit * waits * (2LL << exponent) <= silence)
        ++exponent;
    return exponent;
}

verbs_ptr<ibv_qp> make_queue_pair(const link_parts &parts) noexcept {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = parts.queue;
    init.srq = parts.receives;
    init.cap.max_send_wr = link::depth;
    init.cap.max_send_sge = 1;
    init.cap.max_inline_data = parts.inline_bytes;
    init.qp_type = IBV_QPT_RC;
    return verbs_ptr<ibv_qp>(libibverbs().create_qp(parts.domain, &init));
}

// The queue pair for datagrams ------------------------------------------------------------------------------------------------

connector::connector(const link_parts &parts, int rank, verbs_counts &counts)
    : parts_(parts),
      rank_(rank),
      counts_(counts),
      token_(random_number()),
      qkey_(static_cast<std::uint32_t>(random_number()) & ~privileged_qkey),
      slots_(std::size_t{2} * buffers) {
    region_ = take_created(libibverbs().reg_mr(parts.domain, slots_.data(), slots_.size() * sizeof(slot),
                                               IBV_ACCESS_LOCAL_WRITE),
                           parts.port.name, "ibv_reg_mr of the connections' messages");
    open_pair();
    for (std::uint32_t i = 0; i < buffers; ++i) {
        post_slot(i);
        free_.push_back(buffers + i);
    }
}

void connector::open_pair() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = parts_.queue;
    init.cap.max_send_wr = init.cap.max_recv_wr = buffers;
    init.cap.max_send_sge = init.cap.max_recv_sge = 1;
    init.qp_type = IBV_QPT_UD;
    datagrams_ = take_created(libibverbs().create_qp(parts_.domain, &init), parts_.port.name,
                              "ibv_create_qp for datagrams");
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = parts_.port.number;
    attributes.qkey = qkey_;
    int error = libibverbs().modify_qp(datagrams_.get(), &attributes,
                                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attributes.qp_state = IBV_QPS_RTR;
    if (error == 0)
        error = libibverbs().modify_qp(datagrams_.get(), &attributes, IBV_QP_STATE);
    attributes.qp_state = IBV_QPS_RTS;
    attributes.sq_psn = 0;
    if (error == 0)
        error = libibverbs().modify_qp(datagrams_.get(), &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN);
    if (error != 0) {
        errno = error;
        throw_verbs_error(parts_.port.name, "ibv_modify_qp for datagrams");
    }
}

verbs_address connector::address() const noexcept {
    verbs_address own;
    std::strncpy(own.network, parts_.port.network(), sizeof own.network - 1);
    own.gid = parts_.port.gid.gid;
    own.token = token_;
    own.qp_number = datagrams_->qp_num;
    own.qkey = qkey_;
    own.lid = parts_.port.attributes.lid;
    own.mtu = static_cast<std::uint16_t>(parts_.port.attributes.active_mtu);
    return own;
}

void connector::set_ranks(std::vector<std::optional<verbs_address>> ranks) {
    ranks_ = std::move(ranks);
    links_.resize(ranks_.size());
    abandoned_.assign(ranks_.size(), false);
}

// InfiniBand within a subnet goes by the port's number there, everything else by GID.
ibv_ah_attr connector::path_to(const verbs_address &peer) const noexcept {
    ibv_ah_attr path{};
    path.port_num = parts_.port.number;
    path.dlid = peer.lid;
    const ibv_gid &own = parts_.port.gid.gid;
    if (parts_.port.is_ethernet() || own.global.subnet_prefix != peer.gid.global.subnet_prefix) {
        path.is_global = 1;
        path.grh.dgid = peer.gid;
        path.grh.sgid_index = static_cast<std::uint8_t>(parts_.port.gid.gid_index);
        path.grh.hop_limit = 64;
    }
    return path;
}

void connector::post_slot(std::uint32_t index) noexcept {
    ibv_sge segment{fult::detail::address_of(&slots_[index]), sizeof(slot), region_->lkey};
    ibv_recv_wr request{}, *bad = nullptr;
    request.wr_id = std::uint64_t{index} << 2 | static_cast<std::uint64_t>(work_kind::greeting_received);
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_post_recv(datagrams_.get(), &request, &bad); // if it fails, later greetings find the others
}

// Returns false if no buffer is free: it is repeated.
bool connector::send_greeting(link &link, greeting_kind kind) noexcept {
    const verbs_address &peer = *ranks_[static_cast<std::size_t>(link.rank)];
    if (!link.path) {
        ibv_ah_attr path = path_to(peer);
        link.path.reset(libibverbs().create_ah(parts_.domain, &path));
    }
    if (!link.path || free_.empty())
        return false;
    const std::uint32_t index = free_.back();
    greeting &g = slots_[index].bytes;
    g = {};
    g.kind = kind;
    g.token = peer.token;
    g.rank = static_cast<std::uint32_t>(rank_);
    g.qp_number = link.pair->qp_num;
    g.psn = link.psn;
    ibv_sge segment{fult::detail::address_of(&g), sizeof g, region_->lkey};
    ibv_send_wr request =
        make_request(std::uint64_t{index} << 2 | static_cast<std::uint64_t>(work_kind::greeting_sent),
                     segment, IBV_WR_SEND, true);
    request.wr.ud.ah = link.path.get();
    request.wr.ud.remote_qpn = peer.qp_number;
    request.wr.ud.remote_qkey = peer.qkey;
    if (ibv_send_wr *bad = nullptr; ibv_post_send(datagrams_.get(), &request, &bad) != 0)
        return false;
    free_.pop_back();
    ++counts_.greetings;
    return true;
}

void connector::greeting_sent(const ibv_wc &wc) noexcept {
    FULT_ASSERT(free_.size() < buffers);
    free_.push_back(static_cast<std::uint32_t>(wc.wr_id >> 2)); // has capacity for all
}

// Links -----------------------------------------------------------------------------------------------------------------------

link *connector::make_link(int rank) noexcept {
    verbs_ptr<ibv_qp> pair = make_queue_pair(parts_);
    int error = pair ? to_init(parts_, pair.get()) : errno;
    std::unique_ptr<link> made;
    if (error == 0) {
        try {
            made = std::make_unique<link>(rank, std::move(pair),
                                          static_cast<std::uint32_t>(random_number()) & number_mask);
        } catch (const std::exception &) {
            error = ENOMEM;
        }
    }
    if (!made) {
        if (!std::exchange(has_reported_failure_, true))
            std::fprintf(stderr, "fult-comm: rank %d: verbs on %s: no queue pair for rank %d: %s%s\n", rank_,
                         parts_.port.name.c_str(), rank, std::strerror(error), verbs_remedy(error).c_str());
        return nullptr;
    }
    ++unready_;
    ++counts_.connections;
    return (links_[static_cast<std::size_t>(rank)] = std::move(made)).get();
}

void connector::begin(int rank) noexcept {
    if (!is_reachable(rank) || has_failed(rank))
        return;
    link *link = link_to(rank);
    if (!link && !(link = make_link(rank)))
        return; // tried again with the next operation
    if (link->state.request_connection(handshake::clock::now()))
        send_greeting(*link, greeting_kind::ask);
}

void connector::repeat_greetings() noexcept {
    const handshake::clock::time_point now = handshake::clock::now();
    for (const auto &each : links_)
        if (each && each->state.needs_greeting(now))
            send_greeting(*each, greeting_kind::ask);
}

// Returns false if it has failed.
bool connector::connect(link &link, std::uint32_t qp_number, std::uint32_t psn) noexcept {
    if (link.state.is_connected())
        return true;
    const verbs_address &peer = *ranks_[static_cast<std::size_t>(link.rank)];
    int error = to_receive(parts_, link.pair.get(), path_to(peer), peer, qp_number, psn);
    if (error == 0)
        error = to_send(parts_, link.pair.get(), link.psn);
    if (error != 0) {
        errno = error;
        fail(link, "ibv_modify_qp");
        return false;
    }
    link.state.mark_connected();
    return true;
}

void connector::count_ready() noexcept {
    FULT_ASSERT(unready_ != 0);
    --unready_;
}

void connector::greeting_received(const ibv_wc &wc) noexcept {
    const auto index = static_cast<std::uint32_t>(wc.wr_id >> 2);
    FULT_ASSERT(index < buffers);
    if (wc.status != IBV_WC_SUCCESS)
        return; // the transport ends
    const auto bytes = std::as_bytes(std::span(&slots_[index].bytes, 1));
    const bool whole = wc.byte_len == sizeof slots_[index].route + sizeof(greeting);
    const auto g =
        parse_greeting(whole ? bytes : std::span<const std::byte>(), token_,
                       static_cast<std::uint32_t>(ranks_.size()), static_cast<std::uint32_t>(rank_));
    post_slot(index);
    const int rank = g ? static_cast<int>(g->rank) : -1;
    if (!g || !is_reachable(rank)) {
        ++counts_.strange;
        return;
    }
    if (has_failed(rank))
        return;
    link *link = link_to(rank);
    if (!link && !(link = make_link(rank)))
        return; // it asks again
    if (!connect(*link, g->qp_number, g->psn))
        return;
    const bool was_ready = link->state.is_ready();
    if (link->state.greeting_received(g->kind))
        send_greeting(*link, greeting_kind::confirm);
    if (!was_ready && link->state.is_ready())
        count_ready();
}

void connector::received(std::uint32_t qp) noexcept {
    for (const auto &each : links_)
        if (each && each->state.current() == handshake::stage::half && each->pair->qp_num == qp) {
            each->state.message_received();
            count_ready();
        }
}

// Failures --------------------------------------------------------------------------------------------------------------------

void connector::fail(link &link, const char *call) noexcept {
    if (call && !std::exchange(has_reported_failure_, true))
        std::fprintf(stderr, "fult-comm: rank %d: verbs on %s: no connection to rank %d: %s: %s%s\n", rank_,
                     parts_.port.name.c_str(), link.rank, call, std::strerror(errno),
                     verbs_remedy(errno).c_str());
    const bool was_ready = link.state.is_ready();
    if (!link.state.fail())
        return;
    if (!was_ready)
        count_ready();
    any_failed_ = true;
    ++counts_.broken;
}

void connector::disconnect(int rank) noexcept {
    abandoned_[static_cast<std::size_t>(rank)] = true;
    if (link *const link = link_to(rank))
        fail(*link, nullptr);
}

link *connector::take_failed() noexcept {
    if (!any_failed_) [[likely]]
        return nullptr;
    for (const auto &each : links_)
        if (each && each->state.has_failed() && !std::exchange(each->reported, true))
            return each.get();
    any_failed_ = false;
    return nullptr;
}

} // namespace fult::comm::detail
