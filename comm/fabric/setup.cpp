// Creating an endpoint, and exchanging addresses between ranks.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>

#include "comm/base/hex.hpp"
#include "comm/fabric/choice.hpp"
#include "comm/fabric/endpoint.hpp"
#include "comm/fabric/signal_guard.hpp"

namespace fult::comm::detail {

namespace {

// ofi_rxm splits larger messages, and later messages overtake them; and release 1.17 crashes if the other
// rank ends between two parts.
constexpr std::size_t whole_in_rxm = 16384;

std::string name_of(fid_ep *endpoint, const std::string &provider) {
    std::string name(512, '\0');
    std::size_t size = name.size();
    check_result(fi_getname(&endpoint->fid, name.data(), &size), provider, "fi_getname");
    name.resize(size);
    return name;
}

} // namespace

fabric_endpoint::fabric_endpoint(const fabric_settings &settings) : settings_(settings) {
    const signal_guard signals;
    // Some providers size their queues by it, for 256 ranks by default: too large for some devices.
    if (settings.scope == reach::network && settings.expected_ranks > 1)
        setenv("FI_UNIVERSE_SIZE", std::to_string(settings.expected_ranks).c_str(), 0);
    info_ = choose_provider(settings);
    provider_ = info_->fabric_attr->prov_name;
    in_shared_memory_ = info_->addr_format == FI_ADDR_STR;
    limits_.message = std::min(info_->ep_attr->max_msg_size, settings.receive_packet_bytes);
    if (provider_.ends_with(";ofi_rxm"))
        limits_.message = std::min(limits_.message, whole_in_rxm);
    // Larger messages in shared memory wait for the other rank's answer, and answers are processed in the
    // order of the requests: one to a killed rank holds up all others forever (release 1.17).
    if (in_shared_memory_ && info_->tx_attr->inject_size > 0)
        limits_.message = std::min(limits_.message, info_->tx_attr->inject_size);
    limits_.inject = std::min(info_->tx_attr->inject_size, limits_.message);
    limits_.one_sided = (info_->caps & FI_RMA) != 0;
    if (const std::size_t bytes = info_->domain_attr->mr_key_size; bytes != 0 && bytes < sizeof key_mask_)
        key_mask_ = (std::uint64_t{1} << 8 * bytes) - 1;
    limits_.guarded = !in_shared_memory_;
    // Providers above others take what arrives out of the connections whether or not a receive is posted.
    if (provider_.find(';') != std::string::npos || provider_ == "sockets")
        limits_.window = 64;
    limits_.stops_writes = in_shared_memory_; // over a network the connections that others made remain
    limits_.local_keys = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
    is_staging_ = !in_shared_memory_ && !limits_.local_keys;
    // In shared memory a write is either done when the call returns, or queued ahead of every message that is
    // sent afterwards. Between hosts the other side has to confirm.
    if (!in_shared_memory_)
        write_flags_ = offers_delivery(*info_) ? FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE;

    fid_fabric *fabric = nullptr;
    check_result(libfabric().fabric(info_->fabric_attr, &fabric, nullptr), provider_, "fi_fabric");
    fabric_.reset(fabric);
    fid_domain *domain = nullptr;
    check_result(fi_domain(fabric, info_.get(), &domain, nullptr), provider_, "fi_domain");
    domain_.reset(domain);
    fi_av_attr addresses{};
    addresses.type = info_->domain_attr->av_type;
    // A hint, which shared memory rejects if it exceeds the maximum for a host.
    addresses.count = in_shared_memory_ ? 0 : static_cast<std::size_t>(std::max(settings.expected_ranks, 1));
    fid_av *av = nullptr;
    check_result(fi_av_open(domain, &addresses, &av, nullptr), provider_, "fi_av_open");
    addresses_.reset(av);
    open_queue();
    open_endpoint();
    early_.reserve(info_->tx_attr->size + info_->rx_attr->size);
}

// Connections first, then what they refer to.
fabric_endpoint::~fabric_endpoint() {
    endpoint_.reset();
    queue_.reset();
    wait_set_.reset();
    addresses_.reset();
    registered_.clear();
}

// Up to release 1.18, fi_trywait of "net" leaves the descriptor readable after an event: the thread would
// never sleep again. With a separate wait set, a check clears the descriptor.
bool fabric_endpoint::open_wait_set() noexcept {
    if (provider_ != "net")
        return false;
    fi_wait_attr attributes{};
    attributes.wait_obj = FI_WAIT_FD;
    fid_wait *set = nullptr;
    if (fi_wait_open(fabric_.get(), &attributes, &set) != 0)
        return false;
    wait_set_.reset(set);
    if (fi_control(&set->fid, FI_GETWAIT, &descriptor_) == 0)
        return true;
    descriptor_ = -1;
    wait_set_.reset();
    return false;
}

void fabric_endpoint::open_queue() {
    constexpr std::size_t most = 8192; // the maximum of some devices
    fi_cq_attr attributes{};
    attributes.size = std::min(info_->tx_attr->size + info_->rx_attr->size, most);
    attributes.format = FI_CQ_FORMAT_MSG;
    attributes.wait_obj = FI_WAIT_FD;
    fid_cq *queue = nullptr;
    if (settings_.sleep && open_wait_set()) {
        attributes.wait_obj = FI_WAIT_SET;
        attributes.wait_set = wait_set_.get();
        check_result(fi_cq_open(domain_.get(), &attributes, &queue, nullptr), provider_,
                     "fi_cq_open in a wait set");
        queue_.reset(queue);
        return;
    }
    if (settings_.sleep && fi_cq_open(domain_.get(), &attributes, &queue, nullptr) == 0) {
        queue_.reset(queue);
        if (fi_control(&queue->fid, FI_GETWAIT, &descriptor_) == 0)
            return;
        descriptor_ = -1;
        queue_.reset();
    }
    attributes.wait_obj = FI_WAIT_NONE;
    check_result(fi_cq_open(domain_.get(), &attributes, &queue, nullptr), provider_, "fi_cq_open");
    queue_.reset(queue);
}

void fabric_endpoint::open_endpoint() {
    fid_ep *endpoint = nullptr;
    check_result(fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr), provider_, "fi_endpoint");
    endpoint_.reset(endpoint);
    if (in_shared_memory_ && !settings_.name.empty()) {
        file_ = settings_.name;
        std::replace(file_.begin(), file_.end(), '/', '-');
        unlink_names();
        check_result(fi_setname(&endpoint->fid, file_.data(), file_.size() + 1), provider_, "fi_setname");
    }
    check_result(fi_ep_bind(endpoint, &addresses_->fid, 0), provider_, "fi_ep_bind of the address vector");
    check_result(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), provider_,
                 "fi_ep_bind of the queue");
    check_result(fi_enable(endpoint), provider_, "fi_enable");
}

void fabric_endpoint::unlink_names() noexcept {
    if (!file_.empty())
        shm_unlink(file_.c_str());
}

std::string fabric_endpoint::address() const {
    return to_hex(provider_ + '\0' + name_of(endpoint_.get(), provider_));
}

void fabric_endpoint::connect(std::span<const std::string> addresses) {
    ranks_.assign(addresses.size(), FI_ADDR_NOTAVAIL);
    transfers_ = std::vector<rank_transfers>(addresses.size());
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        if (addresses[rank].empty() || static_cast<int>(rank) == settings_.rank)
            continue;
        const std::string whole = from_hex(addresses[rank]);
        const std::string theirs(whole.begin(), std::find(whole.begin(), whole.end(), '\0'));
        if (theirs != provider_ || theirs.size() + 1 >= whole.size())
            throw std::runtime_error("rank " + std::to_string(rank) + " uses libfabric's provider '" +
                                     theirs + "' and rank " + std::to_string(settings_.rank) + " '" +
                                     provider_ + "': name the same one for all ranks");
        const std::string name = whole.substr(theirs.size() + 1);
        if (fi_av_insert(addresses_.get(), name.data(), 1, &ranks_[rank], 0, nullptr) != 1)
            throw std::runtime_error("libfabric's provider '" + provider_ +
                                     "' does not take the address of rank " + std::to_string(rank) +
                                     (in_shared_memory_ ? ": it has room for 256 ranks on a host" : ""));
    }
}

} // namespace fult::comm::detail
