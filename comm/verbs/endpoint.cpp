#include "comm/verbs/endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/base/require_resources.hpp"

namespace fult::comm::detail {
namespace {

std::uint32_t local_key(const void *descriptor) noexcept {
    FULT_ASSERT(descriptor, "memory of an operation is registered");
    return static_cast<const ibv_mr *>(descriptor)->lkey;
}

// What has been posted of a transfer, in bytes. Adapters limit the size of a work request.
std::size_t bytes_posted(const transfer &t) noexcept { return fult::detail::address_of(t.space.words[0]); }
void set_bytes_posted(transfer &t, std::size_t bytes) noexcept {
    t.space.words[0] = fult::detail::at_address<void>(bytes);
}
ibv_wr_opcode opcode_of(const transfer &t) noexcept {
    return static_cast<ibv_wr_opcode>(fult::detail::address_of(t.space.words[1]));
}

} // namespace

// Sending ---------------------------------------------------------------------------------------------------------------------

// The link to that rank, if it has room; else nullptr and what the operation returns.
link *verbs_endpoint::acquire_link(int rank, std::uint32_t requests, outcome &failure) noexcept {
    link *const link = connector_->ready_link(rank);
    if (link && link->has_room(requests) && in_flight_ + requests <= budget_) [[likely]]
        return link;
    failure =
        connector_->is_reachable(rank) && !connector_->has_failed(rank) ? outcome::again : outcome::failed;
    return nullptr;
}

// Posts a chain of `count` work requests, all noted in the link. Those that are not accepted are taken back.
outcome verbs_endpoint::submit(link &link, ibv_send_wr &first, std::uint32_t count) noexcept {
    ibv_send_wr *refused = nullptr;
    const int error = ibv_post_send(link.pair.get(), &first, &refused);
    ++counts_.doorbells;
    in_flight_ += count;
    if (error == 0) [[likely]]
        return outcome::done;
    std::uint32_t left = 0;
    for (const ibv_send_wr *each = refused; each; each = each->next)
        ++left;
    FULT_ASSERT(left <= count);
    link.withdraw(left);
    in_flight_ -= left;
    if (left < count)
        return outcome::done;
    return error == ENOMEM || error == EAGAIN ? outcome::again : outcome::failed;
}

outcome verbs_endpoint::inject(int rank, const void *bytes, std::size_t size) noexcept {
    outcome failure;
    link *const link = acquire_link(rank, 1, failure);
    if (!link)
        return failure;
    FULT_ASSERT(size <= limits_.inject);
    bool signaled = false;
    ibv_sge segment{fult::detail::address_of(bytes), static_cast<std::uint32_t>(size), 0};
    const std::uint64_t id = link->begin(nullptr, signal_every_, signaled);
    ibv_send_wr request = make_request(id, segment, IBV_WR_SEND, signaled, IBV_SEND_INLINE);
    const outcome result = submit(*link, request, 1);
    if (result == outcome::done) {
        ++counts_.sends;
        ++counts_.inlined;
        counts_.unsignaled += signaled ? 0 : 1;
    }
    return result;
}

outcome verbs_endpoint::send(packet &p) noexcept {
    p.kind = request_kind::send;
    outcome failure;
    link *const link = acquire_link(p.rank, 1, failure);
    if (!link)
        return failure;
    bool signaled = false;
    ibv_sge segment{fult::detail::address_of(p.data()), p.size,
                    local_key(p.descriptor[settings_.descriptor])};
    ibv_send_wr request = make_request(link->begin(&p, signal_every_, signaled), segment, IBV_WR_SEND, true);
    FULT_ASSERT(signaled);
    const outcome result = submit(*link, request, 1);
    counts_.sends += result == outcome::done ? 1 : 0;
    return result;
}

// One-sided transfers -----------------------------------------------------------------------------------------------------------

// Posts the next part of a transfer: a chain of work requests, of which the last one has a completion.
outcome verbs_endpoint::post_part(link &link, transfer &t) noexcept {
    constexpr std::uint32_t most = 16;
    const std::size_t whole = port_.attributes.max_msg_sz;
    ibv_sge pieces[most];
    ibv_send_wr requests[most];
    std::size_t done = bytes_posted(t);
    std::uint32_t count = 0;
    do {
        const std::size_t size = std::min(whole, t.size - done);
        const bool last = done + size == t.size || count + 1 == most || !link.has_room(2) ||
                          in_flight_ + count + 2 > budget_;
        bool signaled = false;
        pieces[count] = {fult::detail::address_of(t.local) + done, static_cast<std::uint32_t>(size),
                         local_key(t.descriptor)};
        const std::uint64_t id = link.begin(last ? &t : nullptr, signal_every_, signaled);
        ibv_send_wr &request = requests[count] = make_request(id, pieces[count], opcode_of(t), signaled);
        request.wr.rdma = {t.address + done, static_cast<std::uint32_t>(t.key)};
        if (count != 0)
            requests[count - 1].next = &request;
        counts_.unsignaled += signaled ? 0 : 1;
        done += size;
        ++count;
        if (last)
            break;
    } while (done < t.size);
    const std::uint32_t noted = link.in_flight();
    const outcome result = submit(link, requests[0], count);
    if (result != outcome::done)
        return result;
    const std::uint32_t refused = noted - link.in_flight();
    (opcode_of(t) == IBV_WR_RDMA_READ ? counts_.reads : counts_.writes) += count - refused;
    if (refused == 0) {
        set_bytes_posted(t, done);
    } else {
        set_bytes_posted(t, bytes_posted(t) + (count - refused) * whole);
        require_resources("comm::context", [&] { stalled_.push_back(&t); });
    }
    return outcome::done;
}

outcome verbs_endpoint::start_transfer(transfer &t, ibv_wr_opcode opcode) noexcept {
    t.kind = request_kind::transfer;
    outcome failure;
    link *const link = acquire_link(t.rank, 1, failure);
    if (!link)
        return failure;
    set_bytes_posted(t, 0);
    t.space.words[1] = fult::detail::at_address<void>(static_cast<std::uintptr_t>(opcode));
    return post_part(*link, t);
}

outcome verbs_endpoint::read(transfer &t) noexcept { return start_transfer(t, IBV_WR_RDMA_READ); }
outcome verbs_endpoint::write(transfer &t) noexcept { return start_transfer(t, IBV_WR_RDMA_WRITE); }

void verbs_endpoint::continue_transfers() noexcept {
    std::vector<transfer *> all = std::exchange(stalled_, {});
    for (transfer *const t : all) {
        outcome result;
        link *const link = acquire_link(t->rank, 1, result);
        if (link)
            result = post_part(*link, *t);
        if (result == outcome::again)
            require_resources("comm::context", [&] { stalled_.push_back(t); });
        else if (result == outcome::failed)
            keep_early({event_kind::lost, t});
    }
}

// Receiving -------------------------------------------------------------------------------------------------------------------

outcome verbs_endpoint::post(packet &p) noexcept {
    if (p.capacity == 0)
        return outcome::done; // a link's mark
    p.kind = request_kind::receive;
    if (posted_ + unposted_count_ >= max_posted_)
        return outcome::again;
    unposted_[unposted_count_++] = &p;
    if (unposted_count_ == receive_batch)
        post_receives();
    return outcome::done;
}

void verbs_endpoint::post_receives() noexcept {
    if (unposted_count_ == 0)
        return;
    std::array<ibv_sge, receive_batch> segments;
    std::array<ibv_recv_wr, receive_batch> requests;
    for (std::uint32_t i = 0; i < unposted_count_; ++i) {
        packet &p = *unposted_[i];
        const std::size_t bytes = std::min<std::size_t>(p.capacity, settings_.receive_packet_bytes);
        segments[i] = {fult::detail::address_of(p.data()), static_cast<std::uint32_t>(bytes),
                       local_key(p.descriptor[settings_.descriptor])};
        requests[i] = {};
        requests[i].wr_id = fult::detail::address_of(&p);
        FULT_ASSERT((requests[i].wr_id & work_kind_bits) == static_cast<std::uint64_t>(work_kind::receive));
        requests[i].sg_list = &segments[i];
        requests[i].num_sge = 1;
        requests[i].next = i + 1 < unposted_count_ ? &requests[i + 1] : nullptr;
    }
    ibv_recv_wr *refused = nullptr;
    const int error = ibv_post_srq_recv(receives_.get(), requests.data(), &refused);
    ++counts_.receive_bells;
    const std::uint32_t count = error == 0 || refused == nullptr
                                    ? unposted_count_
                                    : static_cast<std::uint32_t>(refused - requests.data());
    FULT_ASSERT(count <= unposted_count_);
    posted_ += count;
    counts_.receives += count;
    std::copy(unposted_.begin() + count, unposted_.begin() + unposted_count_,
              unposted_.begin()); // for the next time
    unposted_count_ -= count;
}

bool verbs_endpoint::received(const ibv_wc &wc, event &e) noexcept {
    packet &p = *fult::detail::at_address<packet>(wc.wr_id);
    FULT_ASSERT(posted_ != 0);
    --posted_;
    const bool ok = wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV;
    FULT_ASSERT(!ok || wc.byte_len <= p.capacity, "the adapter keeps within the buffer");
    p.size = ok ? wc.byte_len : 0;
    p.rank = -1;
    e = {ok ? event_kind::received : event_kind::lost, &p};
    if (ok && connector_->has_unready())
        connector_->received(wc.qp_num);
    return true;
}

// Completions -----------------------------------------------------------------------------------------------------------------

bool verbs_endpoint::request_ended(const ibv_wc &wc, event &e) noexcept {
    const auto rank = static_cast<int>(static_cast<std::uint32_t>(wc.wr_id) >> 2);
    link *const link = connector_->link_to(rank);
    work_request *request = nullptr;
    const std::uint32_t count = link ? link->end(static_cast<std::uint32_t>(wc.wr_id >> 32), request) : 0;
    FULT_ASSERT(in_flight_ >= count);
    in_flight_ -= count;
    if (count == 0) // forgotten
        return false;
    if (wc.status != IBV_WC_SUCCESS) {
        connector_->break_link(*link);
        e = {event_kind::lost, request};
        return request != nullptr;
    }
    if (request == nullptr)
        return false;
    if (request->kind == request_kind::send) {
        e = {event_kind::sent, request};
        return true;
    }
    link->advanced = true;
    auto &t = static_cast<transfer &>(*request);
    if (bytes_posted(t) < t.size) {
        require_resources("comm::context", [&] { stalled_.push_back(&t); });
        return false;
    }
    e = {event_kind::transferred, request};
    return true;
}

bool verbs_endpoint::completed(const ibv_wc &wc, event &e) noexcept {
    switch (static_cast<work_kind>(wc.wr_id & work_kind_bits)) {
    case work_kind::receive:
        return received(wc, e);
    case work_kind::request:
        return request_ended(wc, e);
    case work_kind::greeting_received:
        connector_->greeting_received(wc);
        return false;
    case work_kind::greeting_sent:
        connector_->greeting_sent(wc);
        return false;
    }
    return false;
}

unsigned verbs_endpoint::read_queue(std::span<event> events) noexcept {
    constexpr std::size_t batch = 16;
    ibv_wc entries[batch];
    unsigned count = 0;
    while (count < events.size()) {
        const std::size_t most = std::min(batch, events.size() - count);
        const int found = ibv_poll_cq(queue_.get(), static_cast<int>(most), entries);
        ++counts_.polls;
        if (found <= 0)
            break;
        spent_ = true;
        counts_.completions += static_cast<unsigned>(found);
        for (int i = 0; i < found; ++i)
            count += completed(entries[i], events[count]) ? 1 : 0;
        if (static_cast<std::size_t>(found) < most)
            break;
    }
    return count;
}

void verbs_endpoint::keep_early(const event &e) noexcept {
    require_resources("comm::context", [&] { early_.push_back(e); });
}

unsigned verbs_endpoint::take_early(std::span<event> events) noexcept {
    unsigned count = 0;
    while (count < events.size() && early_begin_ < early_.size())
        events[count++] = early_[early_begin_++];
    if (early_begin_ == early_.size())
        early_begin_ = 0, early_.clear();
    return count;
}

unsigned verbs_endpoint::poll(std::span<event> events) noexcept {
    post_receives();
    if (early_begin_ != early_.size()) [[unlikely]]
        return take_early(events);
    unsigned count = read_queue(events);
    if (connector_->has_unready()) [[unlikely]]
        connector_->repeat_greetings();
    if (!stalled_.empty()) [[unlikely]]
        continue_transfers();
    while (count < events.size()) {
        link *const failed = connector_->take_failed();
        if (!failed) [[likely]]
            break;
        events[count++] = {event_kind::lost, &failed->mark};
    }
    return count;
}

// Ranks that are gone, memory, sleeping ------------------------------------------------------------------------------------------

bool verbs_endpoint::has_advanced(int rank) noexcept {
    link *const link = connector_->link_to(rank);
    return link && std::exchange(link->advanced, false);
}

void verbs_endpoint::forget(int rank) noexcept {
    connector_->disconnect(rank);
    std::array<event, 16> events; // operations that have ended are reported with their results
    while (const unsigned count = read_queue(events))
        std::for_each_n(events.begin(), count, [&](const event &e) { keep_early(e); });
    std::erase_if(stalled_, [&](transfer *t) {
        if (t->rank == rank)
            keep_early({event_kind::lost, t});
        return t->rank == rank;
    });
    link *const link = connector_->link_to(rank);
    if (!link)
        return;
    link->pair.reset(); // from now on the adapter does not use the memory of its operations
    link->each([&](work_request &request) { keep_early({event_kind::lost, &request}); });
    FULT_ASSERT(in_flight_ >= link->in_flight());
    in_flight_ -= link->in_flight();
    link->drop_all();
}

bool verbs_endpoint::register_memory(memory &m, access_rights allowed) noexcept {
    registration *const made = memory_->take(m.base, m.size, allowed);
    if (made == nullptr)
        return false;
    m.address = fult::detail::address_of(m.base);
    m.key = made->region->rkey;
    m.descriptor = made->region.get();
    m.handle = made;
    return true;
}

void verbs_endpoint::deregister_memory(memory &m) noexcept {
    if (m.handle != nullptr)
        memory_->give(*static_cast<registration *>(std::exchange(m.handle, nullptr)));
}

// True if there was an event. The descriptor is not readable then, unless there are more.
bool verbs_endpoint::take_event() noexcept {
    ibv_cq *queue = nullptr;
    void *unused = nullptr;
    if (libibverbs().get_cq_event(channel_.get(), &queue, &unused) != 0)
        return false;
    libibverbs().ack_cq_events(queue, 1);
    ++counts_.events;
    return true;
}

// A request for an event is used up by the next completion. Whether it is costs a system call, so that is not
// checked if neither a completion was seen nor the caller may have slept since.
bool verbs_endpoint::may_sleep() noexcept {
    if (early_begin_ != early_.size() || !stalled_.empty())
        return false;
    if (!channel_)
        return true;
    if (armed_ && !spent_) {
        const bool first = !std::exchange(may_have_slept_, true);
        if (first || !take_event())
            return true;
    } else if (armed_) {
        take_event();
    }
    spent_ = may_have_slept_ = false;
    armed_ = ibv_req_notify_cq(queue_.get(), 0) == 0;
    return false; // completions that have come before that are for another poll
}

const verbs_counts &verbs_endpoint::counts() const noexcept {
    counts_.registrations = memory_->made();
    counts_.registration_hits = memory_->hits();
    return counts_;
}

} // namespace fult::comm::detail
