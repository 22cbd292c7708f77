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
    const ssize_t result = call(to, *op);
    if (result == 0)
        return outcome::done;
    operations_.end(op);
    return refused(result, rank);
}

outcome fabric_endpoint::send(packet &p) noexcept {
    p.kind = posted_kind::send;
    return begin(p, p.rank, [&](fi_addr_t to, in_flight &op) {
        return fi_send(endpoint_.get(), p.data(), p.size, p.descriptor[settings_.descriptor], to,
                       static_cast<posted *>(&op));
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

// Transfers -----------------------------------------------------------------------------------------------------------

ssize_t fabric_endpoint::move(const transfer &t, bool is_write, std::size_t offset, std::size_t size,
                              in_flight &op) noexcept {
    const iovec here{op.through ? op.through->bytes.get() : static_cast<std::byte *>(t.local) + offset, size};
    const fi_rma_iov there{t.address + offset, size, t.key};
    void *descriptor = t.descriptor;
    fi_msg_rma message{};
    message.msg_iov = &here;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = destination(t.rank);
    message.rma_iov = &there;
    message.rma_iov_count = 1;
    message.context = static_cast<posted *>(&op);
    return is_write ? fi_writemsg(endpoint_.get(), &message, write_flags_ | FI_COMPLETION)
                    : fi_readmsg(endpoint_.get(), &message, FI_COMPLETION);
}

outcome fabric_endpoint::start(transfer &t, bool is_write) noexcept {
    pieces_of(t).start(is_write);
    if (in_shared_memory_) { // as a whole, within the call
        const outcome how =
            begin(t, t.rank, [&](fi_addr_t, in_flight &op) { return move(t, is_write, 0, t.size, op); });
        // A provider that copies within the call reports that a copy failed, but not which; so the result
        // must be known before the next one.
        if (how == outcome::done)
            drain(&t);
        return how;
    }
    if (destination(t.rank) == FI_ADDR_NOTAVAIL)
        return outcome::failed;
    transfers_[static_cast<std::size_t>(t.rank)].add(t);
    begin_pieces(t.rank);
    return outcome::done;
}

outcome fabric_endpoint::read(transfer &t) noexcept { return start(t, false); }
outcome fabric_endpoint::write(transfer &t) noexcept { return start(t, true); }

void fabric_endpoint::begin_pieces(int rank) noexcept {
    rank_transfers &of = transfers_[static_cast<std::size_t>(rank)];
    while (of.first && of.has_room()) {
        transfer &t = *of.first;
        if (!begin_piece(t))
            return;
        if (!pieces_of(t).is_begun())
            continue;
        of.take();
        if (pieces_of(t).is_over()) // it failed before any piece of it was begun
            give_up(t);
    }
}

// Gives the next piece to the provider.
outcome fabric_endpoint::fly(transfer &t, std::size_t size) noexcept {
    const pieces_of state(t);
    const bool is_staged = is_staging_ && !state.is_write();
    staging_buffer *const through = is_staged ? buffers_.take(most_of_a_piece) : nullptr;
    if (is_staged && !through)
        return outcome::again;
    const outcome how = begin(t, t.rank, [&](fi_addr_t, in_flight &op) {
        op.bytes = size;
        op.place = static_cast<std::byte *>(t.local) + state.next_offset();
        op.through = through;
        return move(t, state.is_write(), state.next_offset(), size, op);
    });
    if (how != outcome::done && through)
        buffers_.give(*through);
    return how;
}

// Returns false if there is no room for it.
bool fabric_endpoint::begin_piece(transfer &t) noexcept {
    pieces_of state(t);
    const std::size_t size = state.next_size();
    const outcome how = fly(t, size);
    if (how == outcome::again) {
        stalled_ = true;
        return false;
    }
    if (how == outcome::done) {
        state.begin(size);
        transfers_[static_cast<std::size_t>(t.rank)].begun(size);
    } else {
        state.fail();
    }
    return true;
}

// The provider has finished with a piece. Returns true if that ends its transfer.
bool fabric_endpoint::piece_ended(in_flight *op, bool well, event &e) noexcept {
    const int rank = op->rank;
    const std::size_t bytes = op->bytes;
    std::byte *const place = op->place;
    staging_buffer *const through = op->through;
    auto *const t = static_cast<transfer *>(operations_.end(op));
    if (through) {
        if (t && well)
            std::memcpy(place, through->bytes.get(), bytes);
        buffers_.give(*through);
    }
    if (!t)
        return false;
    rank_transfers &of = transfers_[static_cast<std::size_t>(rank)];
    of.ended(bytes, well);
    pieces_of state(*t);
    const bool was_begun = state.is_begun();
    state.end(bytes, well);
    if (!was_begun && state.is_begun()) { // it failed
        FULT_ASSERT(of.first == t, "the others of the list have no pieces yet");
        of.take();
    }
    const bool is_over = state.is_over();
    if (is_over)
        e = {state.has_failed() ? event::kind::lost : event::kind::moved, t};
    begin_pieces(rank); // gives up what fails by it
    return is_over;
}

bool fabric_endpoint::has_advanced(int rank) noexcept {
    return std::exchange(transfers_[static_cast<std::size_t>(rank)].advanced, false);
}

// Completions ---------------------------------------------------------------------------------------------------------

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
    if (is_piece(*context))
        return piece_ended(static_cast<in_flight *>(context), true, e);
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
    if (is_piece(*op))
        return piece_ended(op, false, e);
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
    if (std::exchange(stalled_, false)) [[unlikely]]
        for (std::size_t rank = 0; rank < transfers_.size(); ++rank)
            begin_pieces(static_cast<int>(rank));
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

void fabric_endpoint::give_up(posted &what) noexcept {
    what.notes.notes[0] = given_up_;
    given_up_ = &what;
}

// A piece that was begun has come to its end without success, and its record is abandoned.
void fabric_endpoint::piece_stopped(in_flight &op) noexcept {
    auto &t = static_cast<transfer &>(*std::exchange(op.what, nullptr));
    transfers_[static_cast<std::size_t>(op.rank)].ended(op.bytes, false);
    pieces_of(t).end(op.bytes, false);
    if (pieces_of(t).is_over())
        give_up(t);
}

// The provider may go on with what is under way. But the memory of packets and of the buffers that reads go
// through is this library's; other memory is deregistered when its transfer ends; and the bytes of a write go
// to that rank alone. So all end here, and their records when the provider has finished with them.
void fabric_endpoint::forget(int rank) noexcept {
    ranks_[static_cast<std::size_t>(rank)] = FI_ADDR_NOTAVAIL;
    drain(nullptr); // operations that have ended are reported with their results
    rank_transfers &of = transfers_[static_cast<std::size_t>(rank)];
    while (transfer *const t = of.take()) {
        pieces_of(*t).fail();
        if (pieces_of(*t).is_over())
            give_up(*t);
    }
    operations_.each_to(rank, [&](in_flight &op) {
        if (is_piece(op)) {
            piece_stopped(op);
        } else {
            fi_cancel(&endpoint_->fid, static_cast<posted *>(&op));
            give_up(*std::exchange(op.what, nullptr));
        }
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
    if (early_begin_ != early_.size() || given_up_ != nullptr || stalled_)
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
