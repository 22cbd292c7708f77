#include "comm/fabric/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

namespace {

// Errors that make a rank unreachable for good; others affect a single operation.
bool means_gone(long error) noexcept {
    switch (error < 0 ? -error : error) {
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case ESHUTDOWN:
    case EPIPE:
    case EHOSTUNREACH:
    case EHOSTDOWN:
    case ENETUNREACH:
    case ETIMEDOUT:
    case ESRCH:
        return true;
    default:
        return false;
    }
}

} // namespace

outcome fabric_endpoint::refused(long result, int rank) noexcept {
    FULT_ASSERT(rank < static_cast<int>(ranks_.size()) && result != 0);
    if (result == -FI_EAGAIN || result == -FI_ENOMEM || result == -FI_ENOBUFS || result == -FI_ENOSPC)
        return outcome::again;
    if (rank >= 0 && means_gone(result))
        ranks_[static_cast<std::size_t>(rank)] = FI_ADDR_NOTAVAIL;
    return outcome::failed;
}

outcome fabric_endpoint::inject(int rank, const void *bytes, std::size_t size) noexcept {
    const fi_addr_t to = destination(rank);
    if (to == FI_ADDR_NOTAVAIL) [[unlikely]]
        return outcome::failed;
    const ssize_t result = fi_inject(endpoint_.get(), bytes, size, to);
    return result == 0 ? outcome::done : refused(result, rank);
}

template <class Call> outcome fabric_endpoint::begin(posted &what, int rank, Call call) noexcept {
    const fi_addr_t to = destination(rank);
    if (to == FI_ADDR_NOTAVAIL) [[unlikely]]
        return outcome::failed;
    in_flight *const op = operations_.begin(what, rank);
    if (op == nullptr)
        return outcome::again;
    const ssize_t result = call(to, static_cast<posted *>(op));
    if (result == 0)
        return outcome::done;
    operations_.end(op);
    return refused(result, rank);
}

outcome fabric_endpoint::send(packet &p) noexcept {
    p.kind = posted_kind::send;
    return begin(p, p.rank, [&](fi_addr_t to, void *context) {
        return fi_send(endpoint_.get(), p.data(), p.size, p.descriptor[settings_.descriptor], to, context);
    });
}

outcome fabric_endpoint::post(packet &p) noexcept {
    FULT_ASSERT(p.capacity != 0);
    p.kind = posted_kind::receive;
    const ssize_t result =
        fi_recv(endpoint_.get(), p.data(), std::min<std::size_t>(p.capacity, settings_.receive_packet_bytes),
                p.descriptor[settings_.descriptor], FI_ADDR_UNSPEC, static_cast<posted *>(&p));
    return result == 0 ? outcome::done : refused(result, -1);
}

outcome fabric_endpoint::read(transfer &t) noexcept {
    t.kind = posted_kind::transfer;
    return begun_transfer(begin(t, t.rank,
                                [&](fi_addr_t from, void *context) {
                                    return fi_read(endpoint_.get(), t.local, t.size, t.descriptor, from,
                                                   t.address, t.key, context);
                                }),
                          t);
}

outcome fabric_endpoint::write(transfer &t) noexcept {
    t.kind = posted_kind::transfer;
    return begun_transfer(begin(t, t.rank,
                                [&](fi_addr_t to, void *context) {
                                    const iovec here{t.local, t.size};
                                    const fi_rma_iov there{t.address, t.size, t.key};
                                    fi_msg_rma message{};
                                    message.msg_iov = &here;
                                    message.desc = &t.descriptor;
                                    message.iov_count = 1;
                                    message.addr = to;
                                    message.rma_iov = &there;
                                    message.rma_iov_count = 1;
                                    message.context = context;
                                    return fi_writemsg(endpoint_.get(), &message,
                                                       write_flags_ | FI_COMPLETION);
                                }),
                          t);
}

// A provider that copies within the call reports that a copy failed, but not which; so the result must be
// known before the next one.
outcome fabric_endpoint::begun_transfer(outcome result, transfer &t) noexcept {
    if (result == outcome::done && in_shared_memory_)
        drain(&t);
    return result;
}

// Reads the queue into early_, until that transfer has ended or the queue is empty.
void fabric_endpoint::drain(const transfer *until) noexcept {
    constexpr std::size_t batch = 16;
    for (;;) {
        if (early_begin_ == early_.size())
            early_begin_ = 0, early_.clear();
        if (early_.capacity() - early_.size() < batch)
            return; // the rest remains in the queue
        std::array<event, batch> events;
        const unsigned count = read_queue(events, until);
        early_.insert(early_.end(), events.begin(), events.begin() + count);
        FULT_ASSERT(count <= batch);
        const auto is_it = [&](const event &e) { return e.what == until; };
        if (count == 0 || std::any_of(events.begin(), events.begin() + count, is_it))
            return;
    }
}

bool fabric_endpoint::completed(const fi_cq_msg_entry &entry, event &e) noexcept {
    auto *const context = static_cast<posted *>(entry.op_context);
    if (context == nullptr)
        return false; // caused by another rank's operation here
    if (context->kind == posted_kind::receive) {
        auto *const p = static_cast<packet *>(context);
        FULT_ASSERT(entry.len <= p->capacity, "the provider keeps within the buffer");
        p->size = static_cast<std::uint32_t>(entry.len);
        e = {event::kind::received, p};
        return true;
    }
    posted *const what = operations_.end(static_cast<in_flight *>(context));
    if (what == nullptr)
        return false;
    e = {what->kind == posted_kind::send ? event::kind::sent : event::kind::moved, what};
    return true;
}

// Takes an error from the queue. suspect: the transfer started last, if it may be the one that failed.
bool fabric_endpoint::failed(event &e, const transfer *suspect) noexcept {
    fi_cq_err_entry error{};
    if (fi_cq_readerr(queue_.get(), &error, 0) <= 0)
        return false;
    auto *context = static_cast<posted *>(error.op_context);
    if (context == nullptr && suspect != nullptr &&
        (error.flags & (FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RECV)) == 0)
        operations_.each_to(suspect->rank, [&](in_flight &op) {
            if (op.what == suspect)
                context = &op;
        });
    if (context == nullptr)
        return false;
    if (context->kind == posted_kind::receive) {
        auto *const p = static_cast<packet *>(context);
        p->size = 0;
        p->rank = -1;
        e = {event::kind::lost, context};
        return true;
    }
    auto *const op = static_cast<in_flight *>(context);
    if (means_gone(error.err))
        ranks_[static_cast<std::size_t>(op->rank)] = FI_ADDR_NOTAVAIL;
    e = {event::kind::lost, operations_.end(op)};
    return e.what != nullptr;
}

unsigned fabric_endpoint::read_queue(std::span<event> events, const transfer *suspect) noexcept {
    std::array<fi_cq_msg_entry, 16> entries;
    unsigned count = 0;
    while (count < events.size()) {
        const std::size_t most = std::min(entries.size(), events.size() - count);
        const ssize_t result = fi_cq_read(queue_.get(), entries.data(), most);
        if (result > 0) {
            for (ssize_t i = 0; i < result; ++i)
                count += completed(entries[static_cast<std::size_t>(i)], events[count]) ? 1 : 0;
            if (static_cast<std::size_t>(result) < most)
                break; // empty: later entries are for the next call
        } else if (result == -FI_EAVAIL) {
            count += failed(events[count], suspect) ? 1 : 0;
        } else
            break;
    }
    return count;
}

unsigned fabric_endpoint::poll(std::span<event> events) noexcept {
    if (early_begin_ == early_.size() && given_up_ == nullptr) [[likely]]
        return read_queue(events, nullptr);
    unsigned count = 0;
    while (count < events.size() && early_begin_ < early_.size())
        events[count++] = early_[early_begin_++];
    while (count < events.size() && given_up_ != nullptr) {
        posted *const what = std::exchange(given_up_, static_cast<posted *>(given_up_->notes.notes[0]));
        events[count++] = {event::kind::lost, what};
    }
    if (early_begin_ == early_.size())
        early_begin_ = 0, early_.clear();
    return count;
}

void fabric_endpoint::forget(int rank) noexcept {
    ranks_[static_cast<std::size_t>(rank)] = FI_ADDR_NOTAVAIL;
    drain(nullptr); // operations that have ended are reported with their results
    operations_.each_to(rank, [&](in_flight &op) {
        if (op.what == nullptr)
            return;
        op.what->notes.notes[0] = given_up_;
        given_up_ = std::exchange(op.what, nullptr);
        fi_cancel(&endpoint_->fid, static_cast<posted *>(&op));
    });
}

bool fabric_endpoint::register_memory(memory &m) noexcept {
    const std::uint64_t mode = static_cast<std::uint64_t>(info_->domain_attr->mr_mode);
    const std::uint64_t access =
        FI_SEND | FI_RECV | (limits_.one_sided ? FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE : 0);
    fid_mr *region = nullptr;
    const int result =
        fi_mr_reg(domain_.get(), m.base, m.size, access, 0,
                  next_key_.fetch_add(1, std::memory_order_relaxed) & key_mask_, 0, &region, nullptr);
    if (result != 0) {
        errno = -result;
        return false;
    }
    fid_ptr<fid_mr> owner(region);
    m.address = (mode & FI_MR_VIRT_ADDR) != 0 ? fult::detail::address_of(m.base) : 0;
    m.key = fi_mr_key(region);
    m.descriptor = fi_mr_desc(region);
    m.handle = region;
    try {
        const std::lock_guard lock(registered_mutex_);
        registered_.emplace(region, std::move(owner));
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
        return false;
    }
    return true;
}

void fabric_endpoint::deregister_memory(memory &m) noexcept {
    fid_ptr<fid_mr> last;
    const std::lock_guard lock(registered_mutex_);
    if (const auto found = registered_.find(static_cast<fid_mr *>(m.handle)); found != registered_.end()) {
        last = std::move(found->second);
        registered_.erase(found);
    }
    m.handle = nullptr;
}

bool fabric_endpoint::may_sleep() noexcept {
    if (early_begin_ != early_.size() || given_up_ != nullptr)
        return false;
    if (descriptor_ < 0)
        return true;
    if (wait_set_) // clears the descriptor, then checks
        return fi_wait(wait_set_.get(), 0) == -FI_ETIMEDOUT;
    fid *const what = &queue_->fid;
    fid *queues[] = {what};
    return fi_trywait(fabric_.get(), queues, 1) == FI_SUCCESS;
}

} // namespace fult::comm::detail
