#include "comm/shared/shared_transport.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <unistd.h>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/base/random_number.hpp"
#include "fult/base/numbers.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::size_t copy_limit = 65536;  // bytes up to which a transfer is copied within the call
constexpr std::size_t piece_size = 262144; // bytes of a longer transfer per poll: messages proceed in between
constexpr unsigned silent_polls = 64;      // unsuccessful polls after which a ring's writer must notify

// Parses a hexadecimal field of an address; moves `text` past the dot that follows.
std::uint64_t number_from(std::string_view &text) {
    const auto value = fult::detail::number_before<std::uint64_t>(text, '.', 16);
    if (!value)
        throw std::invalid_argument("");
    return *value;
}

std::string hex(std::uint64_t value) {
    char digits[16];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, 16).ptr);
}

constexpr std::string_view address_prefix = "shared.";

struct rank_address {
    pid_t process;
    std::uint64_t token_address, token;
    std::string file;
};

rank_address parse_address(const std::string &address, int rank) {
    try {
        std::string_view text = address;
        if (!text.starts_with(address_prefix))
            throw std::invalid_argument("");
        text.remove_prefix(address_prefix.size());
        rank_address parsed{};
        parsed.process = static_cast<pid_t>(number_from(text));
        parsed.token_address = number_from(text);
        parsed.token = number_from(text);
        parsed.file = text;
        return parsed;
    } catch (const std::invalid_argument &) {
        throw std::runtime_error("fult-comm: rank " + std::to_string(rank) +
                                 " of this host does not use FULT's shared memory: give all ranks the same "
                                 "FULT_COMM_SAME_HOST");
    }
}

// Ignores the limit on memory.
segment_shape shape_of(const shared_settings &settings) {
    const std::size_t least = messages_per_ring * framed_size(settings.message) + ring_word;
    const std::size_t ring = (std::max(settings.ring, least) + ring_word - 1) / ring_word * ring_word;
    const auto others = static_cast<std::uint64_t>(std::max(settings.ranks - 1, 1));
    return {others, ring, settings.message, settings.max_polled};
}

// Fields of a request's space while it is queued, behind the link.
std::uintptr_t word_of(const work_request &request, unsigned index) noexcept {
    return fult::detail::address_of(request.space.words[index]);
}
void set_word(work_request &request, unsigned index, std::uintptr_t value) noexcept {
    request.space.words[index] = fult::detail::at_address<void>(value);
}
constexpr unsigned end_kind_word = 1;    // event_kind
constexpr unsigned bytes_moved_word = 1; // of a transfer in progress
constexpr unsigned direction_word = 2;   // direction
static_assert(direction_word < sizeof(provider_space::words) / sizeof(void *));

} // namespace

// Setting up ------------------------------------------------------------------------------------------------

shared_transport::shared_transport(const shared_settings &settings)
    : settings_(settings), file_(settings.name), token_(random_number()) {
    std::replace(file_.begin(), file_.end(), '/', '-');
    shape_ = fit(shape_of(settings_), settings_.room);
    segment_ = create_segment(file_, shape_);
    own_head_ = mapping(segment_, 0, shape_.head_bytes(), file_);
    allow_copying();
}

shared_transport::~shared_transport() { unlink_names(); }

void shared_transport::unlink_names() noexcept {
    if (!names_unlinked_)
        remove_shared_file(file_);
    names_unlinked_ = true;
}

std::string shared_transport::address() const {
    return std::string(address_prefix) + hex(static_cast<std::uint64_t>(::getpid())) + "." +
           hex(fult::detail::address_of(&token_)) + "." + hex(token_) + "." + file_;
}

// A rank's slots belong to the other ranks of the host, in order. So in the segment of a lower rank, this
// rank's slot is one less than its index.
void shared_transport::connect(std::span<const std::string> addresses) {
    const auto self = static_cast<std::size_t>(settings_.rank);
    std::size_t own_place = 0;
    for (std::size_t rank = 0; rank < addresses.size(); ++rank)
        if (rank != self && !addresses[rank].empty()) {
            own_place += rank < self ? 1 : 0;
            ++slots_;
        }
    if (slots_ > shape_.slots)
        throw std::runtime_error("fult-comm: shared memory for " + std::to_string(shape_.slots + 1) +
                                 " ranks, and there are " + std::to_string(slots_ + 1));
    notifies_by_bit_ = slots_ > settings_.max_polled;
    if (slots_ != 0)
        own_rings_ = mapping(segment_, shape_.slot_offset(0), slots_ * shape_.slot_bytes(), file_);
    links_ = std::make_unique<link[]>(slots_);
    FULT_ASSERT(!own_rings_.at() == (slots_ == 0));
    by_rank_.assign(addresses.size(), nullptr);
    polled_.reserve(slots_);
    rejected_.reserve(slots_);
    one_sided_ = settings_.copies;
    std::size_t slot = 0;
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        if (rank == self || addresses[rank].empty())
            continue;
        link &peer = links_[slot++];
        peer.rank = static_cast<int>(rank);
        connect_link(peer, addresses[rank], rank < self ? own_place - 1 : own_place);
        peer.reader = ring_reader(
            make_ring(own_rings_.at() + (slot - 1) * shape_.slot_bytes(), shape_, peer.rank, settings_.rank));
        by_rank_[rank] = &peer;
    }
    segment_ = file();
}

void shared_transport::connect_link(link &peer, const std::string &address, std::size_t own_slot) {
    const rank_address remote = parse_address(address, peer.rank);
    const file segment = open_segment(remote.file, shape_);
    peer.head = mapping(segment, 0, shape_.head_bytes(), remote.file);
    peer.ring = mapping(segment, shape_.slot_offset(own_slot), shape_.slot_bytes(), remote.file);
    peer.writer = ring_writer(make_ring(peer.ring.at(), shape_, settings_.rank, peer.rank));
    peer.word = slot_words(peer.head) + own_slot / 64;
    peer.bit = std::uint64_t{1} << own_slot % 64;
    FULT_ASSERT(own_slot < shape_.slots);
    peer.process = remote.process;
    peer.is_reachable = true;
    std::uint64_t seen = 0;
    one_sided_ = one_sided_ &&
                 copy_between(peer.process, remote.token_address, &seen, sizeof seen, direction::read) == 0 &&
                 seen == remote.token;
}

// Messages --------------------------------------------------------------------------------------------------

outcome shared_transport::inject(int rank, const void *bytes, std::size_t size) noexcept {
    link *const peer = link_of(rank);
    if (!peer || !peer->is_reachable || size > shape_.max_message) [[unlikely]]
        return outcome::failed;
    const bool in_order =
        notifies_by_bit_ || !peer->has_sent; // the first message notifies, so that its ring is polled
    switch (peer->writer.put(bytes, size, in_order)) {
    case ring_state::ready:
        peer->has_sent = true;
        break;
    case ring_state::unavailable:
        return outcome::again;
    case ring_state::broken:
        peer->is_reachable = false;
        return outcome::failed;
    }
    if (in_order && peer->writer.claim_notification())
        peer->word->ready_bits.fetch_or(peer->bit, std::memory_order_release);
    return outcome::done;
}

outcome shared_transport::send(packet &p) noexcept {
    p.kind = request_kind::send;
    const outcome result = inject(p.rank, p.data(), p.size);
    if (result == outcome::done)
        finish(p, event_kind::sent);
    return result;
}

outcome shared_transport::post(packet &p) noexcept {
    p.kind = request_kind::receive;
    p.next = posted_;
    posted_ = &p;
    return outcome::done;
}

// Starts polling the rings of the ranks that have notified.
void shared_transport::poll_slot_words() noexcept {
    slot_word *const words = slot_words(own_head_);
    for (std::size_t i = 0; i * 64 < slots_; ++i) {
        if (words[i].ready_bits.load(std::memory_order_relaxed) == 0) [[likely]]
            continue;
        std::uint64_t bits = words[i].ready_bits.exchange(0, std::memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            const std::size_t slot = i * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            if (slot >= slots_ || links_[slot].is_polled || !links_[slot].is_valid)
                continue;
            links_[slot].is_polled = true;
            links_[slot].idle_polls = 0;
            polled_.push_back(&links_[slot]);
        }
    }
}

void shared_transport::reject(link &peer) noexcept {
    FULT_ASSERT(peer.is_valid, "a rank is accused once");
    peer.is_valid = false;
    peer.is_reachable = false;
    rejected_.push_back(&peer);
}

unsigned shared_transport::drain(link &peer, std::span<event> events) noexcept {
    unsigned count = 0;
    while (count < events.size() && posted_) {
        std::size_t size = 0;
        const ring_state state = peer.reader.peek(size);
        if (state == ring_state::unavailable)
            break;
        if (state == ring_state::broken || size > posted_->capacity) [[unlikely]] {
            reject(peer);
            break;
        }
        packet &p = *std::exchange(posted_, posted_->next);
        p.next = nullptr;
        peer.reader.take(p.data(), size);
        FULT_ASSERT(size <= p.capacity);
        p.size = static_cast<std::uint32_t>(size);
        events[count++] = {event_kind::received, &p};
    }
    if (count != 0) {
        peer.reader.release_room();
        peer.idle_polls = 0;
    } else {
        ++peer.idle_polls;
    }
    return count;
}

unsigned shared_transport::poll(std::span<event> events) noexcept {
    unsigned count = 0;
    if (!transfers_.empty()) [[unlikely]]
        continue_transfer();
    while (!finished_.empty() && count < events.size()) {
        work_request *const request = finished_.take();
        events[count++] = {static_cast<event_kind>(word_of(*request, end_kind_word)), request};
    }
    while (!rejected_.empty() && posted_ && count < events.size())
        [[unlikely]] {
            packet &p = *std::exchange(posted_, posted_->next);
            p.next = nullptr;
            p.size = 0;
            p.rank = rejected_.back()->rank;
            rejected_.pop_back();
            events[count++] = {event_kind::lost, &p};
        }
    poll_slot_words();
    std::size_t at = next_polled_;
    for (std::size_t left = polled_.size(); left != 0 && posted_ && count < events.size(); --left) {
        if (at >= polled_.size())
            at = 0;
        link &peer = *polled_[at];
        FULT_ASSERT(peer.is_polled);
        count += drain(peer, events.subspan(count));
        if (peer.is_valid && !(notifies_by_bit_ && peer.idle_polls > silent_polls &&
                               peer.reader.request_notification())) [[likely]] {
            ++at;
            continue;
        }
        peer.is_polled = false;
        polled_[at] = polled_.back();
        polled_.pop_back();
    }
    next_polled_ = at;
    return count;
}

// Transfers -------------------------------------------------------------------------------------------------

void shared_transport::finish(work_request &request, event_kind kind) noexcept {
    set_word(request, end_kind_word, static_cast<std::uintptr_t>(kind));
    finished_.add(request);
}

outcome shared_transport::move(transfer &t, direction way) noexcept {
    link *const peer = link_of(t.rank);
    if (!peer || !peer->is_reachable || !one_sided_)
        return outcome::failed;
    t.kind = request_kind::transfer;
    if (!transfers_.empty() || t.size > copy_limit) {
        set_word(t, bytes_moved_word, 0);
        set_word(t, direction_word, static_cast<std::uintptr_t>(way));
        transfers_.add(t);
        return outcome::done;
    }
    const int error = copy_between(peer->process, t.address, t.local, t.size, way);
    if (error == ESRCH) {
        peer->is_reachable = false;
        return outcome::failed;
    }
    finish(t, error == 0 ? event_kind::transferred : event_kind::lost);
    return outcome::done;
}

// Copies the next part of the oldest transfer.
void shared_transport::continue_transfer() noexcept {
    auto &t = static_cast<transfer &>(*transfers_.first());
    link &peer = *link_of(t.rank);
    const std::size_t done = word_of(t, bytes_moved_word);
    FULT_ASSERT(done < t.size || t.size == 0);
    FULT_ASSERT(t.kind == request_kind::transfer, "only transfers are queued");
    const std::size_t size = std::min(piece_size, t.size - done);
    const int error = copy_between(peer.process, t.address + done, static_cast<std::byte *>(t.local) + done,
                                   size, static_cast<direction>(word_of(t, direction_word)));
    if (error == ESRCH)
        peer.is_reachable = false;
    if (error == 0 && done + size != t.size) {
        set_word(t, bytes_moved_word, done + size);
        return;
    }
    transfers_.take();
    finish(t, error == 0 ? event_kind::transferred : event_kind::lost);
}

bool shared_transport::has_received_all(int rank) noexcept {
    const link *const peer = link_of(rank);
    return peer && peer->has_sent && peer->writer.is_empty();
}

// A ring that is not heard any more counts as empty.
bool shared_transport::has_packet_of(int rank) noexcept {
    const link *const peer = link_of(rank);
    std::size_t size = 0;
    return peer && peer->is_valid && peer->reader.peek(size) != ring_state::unavailable;
}

void shared_transport::forget(int rank) noexcept {
    if (link *const peer = link_of(rank))
        peer->is_reachable = false;
    request_queue kept;
    while (work_request *const each = transfers_.take())
        if (static_cast<transfer *>(each)->rank == rank)
            finish(*each, event_kind::lost);
        else
            kept.add(*each);
    transfers_ = kept;
}

bool shared_transport::register_memory(memory &m, access_rights) noexcept {
    m.address = fult::detail::address_of(m.base);
    m.key = next_key_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

} // namespace fult::comm::detail
