// Opening a port, and exchanging addresses between ranks.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>

#include "comm/verbs/endpoint.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::uint32_t max_receives = 512;      // in the shared queue
constexpr std::uint32_t wanted_in_flight = 4096; // work requests of all connections
constexpr std::uint32_t inline_sizes[] = {256, 128, 64, 0};

std::uint32_t receives_of(const verbs_port &port) {
    return std::min(max_receives, static_cast<std::uint32_t>(std::max(port.limits.max_srq_wr, 1)));
}

// True if the adapter resolves addresses at each RDMA read and write, so that memory need not be locked.
bool pages_on_demand(ibv_context *device) noexcept {
    const verbs_context *const extended = __extension__ verbs_get_ctx_op(device, query_device_ex);
    ibv_device_attr_ex all{};
    if (extended == nullptr || extended->query_device_ex(device, nullptr, &all, sizeof all) != 0)
        return false;
    constexpr std::uint32_t needed = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;
    return (all.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0 &&
           (all.odp_caps.per_transport_caps.rc_odp_caps & needed) == needed;
}

} // namespace

verbs_endpoint::verbs_endpoint(const verbs_settings &settings)
    : settings_(settings), port_(choose_port(settings)) {
    domain_ = take_created(libibverbs().alloc_pd(port_.device.get()), port_.name, "ibv_alloc_pd");
    registrar_ = std::make_unique<domain_registrar>(domain_.get());
    memory_ = std::make_unique<registrations>(*registrar_, pages_on_demand(port_.device.get()));
    open_queues();
    find_inline_limit();
    limits_.message = std::min<std::size_t>(settings.receive_packet_bytes, port_.attributes.max_msg_sz);
    limits_.inject = std::min(limits_.inject, limits_.message);
    limits_.one_sided = true;
    limits_.local_keys = true;
    limits_.guarded = true;
    connector_ = std::make_unique<connector>(parts(), settings.rank, counts_);
    early_.reserve(2 * std::size_t{link::depth});
}

verbs_endpoint::~verbs_endpoint() = default;

// All completions that can be outstanding have room in the queue: if it overflowed, the adapter would stop.
void verbs_endpoint::open_queues() {
    const verbs_library &library = libibverbs();
    const std::uint32_t receives = receives_of(port_);
    constexpr std::uint32_t greetings = 2 * connector::buffers;
    const auto most = static_cast<std::uint32_t>(std::max(port_.limits.max_cqe, 1));
    const std::uint32_t size = std::min(most, receives + greetings + wanted_in_flight);
    if (size < receives + greetings + link::depth)
        throw std::runtime_error("fult-comm: verbs on " + port_.name +
                                 ": its completion queues have room for " + std::to_string(most) +
                                 " entries only; use another adapter");
    budget_ = size - receives - greetings;
    if (settings_.sleep) {
        channel_ = take_created(library.create_comp_channel(port_.device.get()), port_.name,
                                "ibv_create_comp_channel");
        const int flags = ::fcntl(channel_->fd, F_GETFL);
        if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) < 0)
            throw_verbs_error(port_.name, "fcntl of the completion channel");
    }
    queue_ = take_created(
        library.create_cq(port_.device.get(), static_cast<int>(size), nullptr, channel_.get(), 0), port_.name,
        "ibv_create_cq");
    ibv_srq_init_attr attributes{};
    attributes.attr.max_wr = receives;
    attributes.attr.max_sge = 1;
    max_posted_ = receives;
    receives_ = take_created(library.create_srq(domain_.get(), &attributes), port_.name, "ibv_create_srq");
}

// Devices do not report how many bytes a work request may contain, but refuse queue pairs that want more.
void verbs_endpoint::find_inline_limit() {
    for (const std::uint32_t bytes : inline_sizes) {
        limits_.inject = bytes;
        if (make_queue_pair(parts()))
            return;
    }
    throw_verbs_error(port_.name, "ibv_create_qp");
}

link_parts verbs_endpoint::parts() const noexcept {
    return {port_,
            domain_.get(),
            queue_.get(),
            receives_.get(),
            static_cast<std::uint32_t>(limits_.inject),
            settings_.silence,
            settings_.retries};
}

void verbs_endpoint::try_to_lock(std::size_t bytes) const {
    if (bytes == 0)
        return;
    void *const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        throw_verbs_error(port_.name, "mmap for packets");
    const verbs_ptr<ibv_mr> locked(libibverbs().reg_mr(domain_.get(), base, bytes, IBV_ACCESS_LOCAL_WRITE));
    const int error = errno;
    ::munmap(base, bytes);
    errno = error;
    if (!locked)
        throw_verbs_error(port_.name, "ibv_reg_mr of the packets");
}

std::string verbs_endpoint::address() const { return to_text(connector_->address()); }

void verbs_endpoint::connect(std::span<const std::string> addresses) {
    std::vector<std::optional<verbs_address>> ranks(addresses.size());
    const std::string own = port_.network();
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        if (addresses[rank].empty() || static_cast<int>(rank) == settings_.rank)
            continue;
        ranks[rank] = parse_verbs_address(addresses[rank]);
        const std::string theirs = ranks[rank] ? ranks[rank]->network : maker_of(addresses[rank]);
        if (theirs == own)
            continue;
        std::string text = "fult-comm: rank " + std::to_string(rank);
        text.append(" uses the network '").append(theirs).append("' and rank ");
        text.append(std::to_string(settings_.rank)).append(" verbs on ").append(port_.name);
        text.append(" with '").append(own);
        throw std::runtime_error(
            text + "': give all ranks the same FULT_COMM_NETWORK, FULT_COMM_INTERFACE and FULT_COMM_GID");
    }
    signal_every_ = std::clamp<std::uint32_t>(
        budget_ / 2 / static_cast<std::uint32_t>(std::max<std::size_t>(ranks.size(), 1)), 1, link::depth / 4);
    connector_->set_ranks(std::move(ranks));
}

std::unique_ptr<transport> open_verbs(const verbs_settings &settings) {
    return std::make_unique<verbs_endpoint>(settings);
}

verbs_offer offer_verbs(const verbs_settings &settings, std::size_t packet_memory) noexcept {
    verbs_offer made;
    try {
        if (has_adapters())
            made.network = choose_port(settings).network();
    } catch (const std::exception &) { // no usable port
    }
    if (made.network.empty())
        return made;
    try {
        verbs_endpoint(settings).try_to_lock(packet_memory);
    } catch (const std::exception &why) {
        made.shortage = why.what();
    }
    return made;
}

const verbs_counts *counts_of(const transport &which) noexcept {
    const auto *const verbs = dynamic_cast<const verbs_endpoint *>(&which);
    return verbs ? &verbs->counts() : nullptr;
}

} // namespace fult::comm::detail
