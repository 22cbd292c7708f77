#include "comm/fabric/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

namespace {

// Errors that make a rank unreachable for good; others affect a single operation.
bool is_unreachable(long error) noexcept {
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

outcome fabric_endpoint::failure_of(long result, int rank) noexcept {
    FULT_ASSERT(rank < static_cast<int>(ranks_.size()) && result != 0);
    if (result == -FI_EAGAIN || result == -FI_ENOMEM || result == -FI_ENOBUFS || result == -FI_ENOSPC)
        return outcome::again;
    if (rank >= 0 && is_unreachable(result))
        ranks_[static_cast<std::size_t>(rank)] = FI_ADDR_NOTAVAIL;
    return outcome::failed;
}

outcome fabric_endpoint::inject(int rank, const void *bytes, std::size_t size) noexcept {
    const fi_addr_t address = destination(rank);
    if (address == FI_ADDR_NOTAVAIL) [[unlikely]]
        return outcome::failed;
    const ssize_t result = fi_inject(endpoint_.get(), bytes, size, address);
    return result == 0 ? outcome::done : failure_of(result, rank);
}

template <class Call> outcome fabric_endpoint::begin(work_request &request, int rank, Call call) noexcept {
    const fi_addr_t address = destination(rank);
    if (address == FI_ADDR_NOTAVAIL) [[unlikely]]
        return outcome::failed;
    fabric_operation *const op = operations_.begin(request, rank);
    if (op == nullptr)
        return outcome::again;
    const ssize_t result = call(address, *op);
    if (result == 0)
        return outcome::done;
    operations_.end(op);
    return failure_of(result, rank);
}

outcome fabric_endpoint::send(packet &p) noexcept {
    p.kind = request_kind::send;
    return begin(p, p.rank, [&](fi_addr_t address, fabric_operation &op) {
        return fi_send(endpoint_.get(), p.data(), p.size, p.descriptor[settings_.descriptor], address,
                       static_cast<work_request *>(&op));
    });
}

outcome fabric_endpoint::post(packet &p) noexcept {
    FULT_ASSERT(p.capacity != 0);
    p.kind = request_kind::receive;
    const ssize_t result =
        fi_recv(endpoint_.get(), p.data(), std::min<std::size_t>(p.capacity, settings_.receive_packet_bytes),
                p.descriptor[settings_.descriptor], FI_ADDR_UNSPEC, static_cast<work_request *>(&p));
    return result == 0 ? outcome::done : failure_of(result, -1);
}

// Transfers -----------------------------------------------------------------------------------------------------------

ssize_t fabric_endpoint::move(const transfer &t, bool is_write, std::size_t offset, std::size_t size,
                              fabric_operation &op) noexcept {
    const iovec local{op.staging ? op.staging->bytes.get() : static_cast<std::byte *>(t.local) + offset,
                      size};
    const fi_rma_iov remote{t.address + offset, size, t.key};
    void *descriptor = t.descriptor;
    fi_msg_rma message{};
    message.msg_iov = &local;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = destination(t.rank);
    message.rma_iov = &remote;
    message.rma_iov_count = 1;
    message.context = static_cast<work_request *>(&op);
    return is_write ? fi_writemsg(endpoint_.get(), &message, write_flags_ | FI_COMPLETION)
                    : fi_readmsg(endpoint_.get(), &message, FI_COMPLETION);
}

outcome fabric_endpoint::start(transfer &t, bool is_write) noexcept {
    piece_state(t).start(is_write);
    if (in_shared_memory_) { // as a whole, within the call
        const outcome result = begin(
            t, t.rank, [&](fi_addr_t, fabric_operation &op) { return move(t, is_write, 0, t.size, op); });
        // A provider that copies within the call reports that a copy failed, but not which; so the result
        // must be known before the next one.
        if (result == outcome::done)
            drain(&t);
        return result;
    }
    if (destination(t.rank) == FI_ADDR_NOTAVAIL)
        return outcome::failed;
    transfers_[static_cast<std::size_t>(t.rank)].unbegun.add(t);
    begin_pieces(t.rank);
    return outcome::done;
}

outcome fabric_endpoint::read(transfer &t) noexcept { return start(t, false); }
outcome fabric_endpoint::write(transfer &t) noexcept { return start(t, true); }

void fabric_endpoint::begin_pieces(int rank) noexcept {
    rank_transfers &transfers = transfers_[static_cast<std::size_t>(rank)];
    while (!transfers.unbegun.empty() && transfers.has_room()) {
        auto &t = static_cast<transfer &>(*transfers.unbegun.first());
        if (!begin_piece(t))
            return;
        if (!piece_state(t).is_begun())
            continue;
        transfers.unbegun.take();
        if (piece_state(t).is_over()) // it failed before any piece of it was begun
            abandoned_.add(t);
    }
}

// Gives the next piece to the provider.
outcome fabric_endpoint::start_piece(transfer &t, std::size_t size) noexcept {
    const piece_state state(t);
    const bool is_staged = is_staging_ && !state.is_write();
    staging_buffer *const staging = is_staged ? buffers_.take(max_piece) : nullptr;
    if (is_staged && !staging)
        return outcome::again;
    const outcome result = begin(t, t.rank, [&](fi_addr_t, fabric_operation &op) {
        op.bytes = size;
        op.target = static_cast<std::byte *>(t.local) + state.next_offset();
        op.staging = staging;
        return move(t, state.is_write(), state.next_offset(), size, op);
    });
    if (result != outcome::done && staging)
        buffers_.give(*staging);
    return result;
}

// Returns false if there is no room for it.
bool fabric_endpoint::begin_piece(transfer &t) noexcept {
    piece_state state(t);
    const std::size_t size = state.next_size();
    const outcome result = start_piece(t, size);
    if (result == outcome::again) {
        stalled_ = true;
        return false;
    }
    if (result == outcome::done) {
        state.begin(size);
        transfers_[static_cast<std::size_t>(t.rank)].count_begin(size);
    } else {
        state.fail();
    }
    return true;
}

// The provider has finished with a piece. Returns true if that ends its transfer.
bool fabric_endpoint::end_piece(fabric_operation *op, bool ok, event &e) noexcept {
    const int rank = op->rank;
    const std::size_t bytes = op->bytes;
    std::byte *const target = op->target;
    staging_buffer *const staging = op->staging;
    auto *const t = static_cast<transfer *>(operations_.end(op));
    if (staging) {
        if (t && ok)
            std::memcpy(target, staging->bytes.get(), bytes);
        buffers_.give(*staging);
    }
    if (!t)
        return false;
    rank_transfers &transfers = transfers_[static_cast<std::size_t>(rank)];
    transfers.count_end(bytes, ok);
    piece_state state(*t);
    const bool was_begun = state.is_begun();
    state.end(bytes, ok);
    if (!was_begun && state.is_begun()) { // it failed
        FULT_ASSERT(transfers.unbegun.first() == t, "the others of the list have no pieces yet");
        transfers.unbegun.take();
    }
    const bool is_over = state.is_over();
    if (is_over)
        e = {state.has_failed() ? event_kind::lost : event_kind::transferred, t};
    begin_pieces(rank); // gives up what fails by it
    return is_over;
}

bool fabric_endpoint::has_advanced(int rank) noexcept {
    return std::exchange(transfers_[static_cast<std::size_t>(rank)].advanced, false);
}

// Completions ---------------------------------------------------------------------------------------------------------

// Reads the queue into early_, until that transfer has ended or the queue is empty.
void fabric_endpoint::drain(const transfer *last) noexcept {
    constexpr std::size_t batch = 16;
    for (;;) {
        if (early_begin_ == early_.size())
            early_begin_ = 0, early_.clear();
        if (early_.capacity() - early_.size() < batch)
            return; // the rest remains in the queue
        std::array<event, batch> events;
        const unsigned count = read_queue(events, last);
        early_.insert(early_.end(), events.begin(), events.begin() + count);
        FULT_ASSERT(count <= batch);
        const auto is_it = [&](const event &e) { return e.request == last; };
        if (count == 0 || std::any_of(events.begin(), events.begin() + count, is_it))
            return;
    }
}

bool fabric_endpoint::completed(const fi_cq_msg_entry &entry, event &e) noexcept {
    auto *const context = static_cast<work_request *>(entry.op_context);
    if (context == nullptr)
        return false; // caused by another rank's operation here
    if (context->kind == request_kind::receive) {
        auto *const p = static_cast<packet *>(context);
        FULT_ASSERT(entry.len <= p->capacity, "the provider keeps within the buffer");
        p->size = static_cast<std::uint32_t>(entry.len);
        e = {event_kind::received, p};
        return true;
    }
    if (is_piece(*context))
        return end_piece(static_cast<fabric_operation *>(context), true, e);
    work_request *const request = operations_.end(static_cast<fabric_operation *>(context));
    if (request == nullptr)
        return false;
    e = {request->kind == request_kind::send ? event_kind::sent : event_kind::transferred, request};
    return true;
}

// Takes an error from the queue. suspect: the transfer started last, if it may be the one that failed.
bool fabric_endpoint::failed(event &e, const transfer *suspect) noexcept {
    fi_cq_err_entry error{};
    if (fi_cq_readerr(queue_.get(), &error, 0) <= 0)
        return false;
    auto *context = static_cast<work_request *>(error.op_context);
    if (context == nullptr && suspect != nullptr &&
        (error.flags & (FI_REMOTE_READ | FI_REMOTE_WRITE | FI_RECV)) == 0)
        operations_.each_to(suspect->rank, [&](fabric_operation &op) {
            if (op.request == suspect)
                context = &op;
        });
    if (context == nullptr)
        return false;
    if (context->kind == request_kind::receive) {
        auto *const p = static_cast<packet *>(context);
        p->size = 0;
        p->rank = -1;
        e = {event_kind::lost, context};
        return true;
    }
    auto *const op = static_cast<fabric_operation *>(context);
    if (is_unreachable(error.err))
        ranks_[static_cast<std::size_t>(op->rank)] = FI_ADDR_NOTAVAIL;
    if (is_piece(*op))
        return end_piece(op, false, e);
    e = {event_kind::lost, operations_.end(op)};
    return e.request != nullptr;
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
    if (std::exchange(stalled_, false)) [[unlikely]]
        for (std::size_t rank = 0; rank < transfers_.size(); ++rank)
            begin_pieces(static_cast<int>(rank));
    if (early_begin_ == early_.size() && abandoned_.empty()) [[likely]]
        return read_queue(events, nullptr);
    unsigned count = 0;
    while (count < events.size() && early_begin_ < early_.size())
        events[count++] = early_[early_begin_++];
    while (count < events.size() && !abandoned_.empty())
        events[count++] = {event_kind::lost, abandoned_.take()};
    if (early_begin_ == early_.size())
        early_begin_ = 0, early_.clear();
    return count;
}

// A piece that was begun has come to its end without success, and its record is abandoned.
void fabric_endpoint::abandon_piece(fabric_operation &op) noexcept {
    auto &t = static_cast<transfer &>(*std::exchange(op.request, nullptr));
    transfers_[static_cast<std::size_t>(op.rank)].count_end(op.bytes, false);
    piece_state(t).end(op.bytes, false);
    if (piece_state(t).is_over())
        abandoned_.add(t);
}

// The provider may go on with what is under way. But the memory of packets and of the buffers that reads go
// through is this library's; other memory is deregistered when its transfer ends; and the bytes of a write go
// to that rank alone. So all end here, and their records when the provider has finished with them.
void fabric_endpoint::forget(int rank) noexcept {
    ranks_[static_cast<std::size_t>(rank)] = FI_ADDR_NOTAVAIL;
    drain(nullptr); // operations that have ended are reported with their results
    rank_transfers &transfers = transfers_[static_cast<std::size_t>(rank)];
    while (!transfers.unbegun.empty()) {
        auto &t = static_cast<transfer &>(*transfers.unbegun.take());
        piece_state(t).fail();
        if (piece_state(t).is_over())
            abandoned_.add(t);
    }
    operations_.each_to(rank, [&](fabric_operation &op) {
        if (is_piece(op)) {
            abandon_piece(op);
        } else {
            fi_cancel(&endpoint_->fid, static_cast<work_request *>(&op));
            abandoned_.add(*std::exchange(op.request, nullptr));
        }
    });
}

bool fabric_endpoint::register_memory(memory &m, access_rights) noexcept {
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
    if (early_begin_ != early_.size() || !abandoned_.empty() || stalled_)
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
