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

constexpr std::size_t at_once = 65536;  // bytes up to which a transfer is copied within the call
constexpr std::size_t a_piece = 262144; // bytes of a longer transfer per poll: messages proceed in between
constexpr unsigned silent_polls = 64;   // unsuccessful polls after which a ring's writer must notify

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

struct whereabouts {
    pid_t process;
    std::uint64_t token_address, token;
    std::string file;
};

whereabouts read_address(const std::string &address, int rank) {
    try {
        std::string_view text = address;
        if (!text.starts_with(address_prefix))
            throw std::invalid_argument("");
        text.remove_prefix(address_prefix.size());
        whereabouts found{};
        found.process = static_cast<pid_t>(number_from(text));
        found.token_address = number_from(text);
        found.token = number_from(text);
        found.file = text;
        return found;
    } catch (const std::invalid_argument &) {
        throw std::runtime_error("fult-comm: rank " + std::to_string(rank) +
                                 " of this host does not use FULT's shared memory: give all ranks the same "
                                 "FULT_COMM_SAME_HOST");
    }
}

// Ignores the limit on memory.
segment_shape shape_of(const shared_settings &settings) {
    const std::size_t least = messages_a_ring * framed(settings.message) + ring_word;
    const std::size_t ring = (std::max(settings.ring, least) + ring_word - 1) / ring_word * ring_word;
    const auto others = static_cast<std::uint64_t>(std::max(settings.ranks - 1, 1));
    return {others, ring, settings.message, settings.looks};
}

// Fields of an operation's notes while it is queued.
posted *next_of(const posted &what) noexcept { return static_cast<posted *>(what.notes.notes[0]); }
void link_to(posted &what, posted *next) noexcept { what.notes.notes[0] = next; }
std::uintptr_t note_of(const posted &what, unsigned which) noexcept {
    return fult::detail::address_of(what.notes.notes[which]);
}
void note(posted &what, unsigned which, std::uintptr_t value) noexcept {
    what.notes.notes[which] = fult::detail::at_address<void>(value);
}
constexpr unsigned how_it_ended = 1;  // event::kind
constexpr unsigned bytes_moved = 1;   // of a transfer in progress
constexpr unsigned where_it_goes = 2; // direction
static_assert(where_it_goes < sizeof(provider_notes::notes) / sizeof(void *));

} // namespace

void shared_transport::queue::add(posted &what) noexcept {
    FULT_ASSERT(!first || !next_of(*last), "the last one has no next");
    link_to(what, nullptr);
    if (first)
        link_to(*last, &what);
    else
        first = &what;
    last = &what;
}

posted *shared_transport::queue::take() noexcept {
    FULT_ASSERT(first, "the queue is not empty");
    posted *const what = first;
    first = next_of(*what);
    return what;
}

// Setting up ------------------------------------------------------------------------------------------------

shared_transport::shared_transport(const shared_settings &settings)
    : settings_(settings), file_(settings.name), token_(random_number()) {
    std::replace(file_.begin(), file_.end(), '/', '-');
    shape_ = fit(shape_of(settings_), settings_.room);
    own_ = create_segment(file_, shape_);
    own_head_ = mapping(own_, 0, shape_.head_bytes(), file_);
    allow_copying();
}

shared_transport::~shared_transport() { conceal(); }

void shared_transport::conceal() noexcept {
    if (!concealed_)
        remove_shared_file(file_);
    concealed_ = true;
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
    tell_ = slots_ > settings_.looks;
    if (slots_ != 0)
        own_rings_ = mapping(own_, shape_.slot_offset(0), slots_ * shape_.slot_bytes(), file_);
    links_ = std::make_unique<link[]>(slots_);
    FULT_ASSERT(!own_rings_.at() == (slots_ == 0));
    by_rank_.assign(addresses.size(), nullptr);
    watched_.reserve(slots_);
    accused_.reserve(slots_);
    one_sided_ = settings_.copies;
    std::size_t slot = 0;
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        if (rank == self || addresses[rank].empty())
            continue;
        link &other = links_[slot++];
        other.rank = static_cast<int>(rank);
        meet(other, addresses[rank], rank < self ? own_place - 1 : own_place);
        other.in = ring_reader(
            ring_at(own_rings_.at() + (slot - 1) * shape_.slot_bytes(), shape_, other.rank, settings_.rank));
        by_rank_[rank] = &other;
    }
    own_ = file();
}

void shared_transport::meet(link &other, const std::string &address, std::size_t own_slot) {
    const whereabouts there = read_address(address, other.rank);
    const file segment = open_segment(there.file, shape_);
    other.head = mapping(segment, 0, shape_.head_bytes(), there.file);
    other.ring = mapping(segment, shape_.slot_offset(own_slot), shape_.slot_bytes(), there.file);
    other.out = ring_writer(ring_at(other.ring.at(), shape_, settings_.rank, other.rank));
    other.word = words_of(other.head) + own_slot / 64;
    other.bit = std::uint64_t{1} << own_slot % 64;
    FULT_ASSERT(own_slot < shape_.slots);
    other.process = there.process;
    other.reachable = true;
    std::uint64_t seen = 0;
    one_sided_ = one_sided_ &&
                 copy_between(other.process, there.token_address, &seen, sizeof seen, direction::here) == 0 &&
                 seen == there.token;
}

// Messages --------------------------------------------------------------------------------------------------

outcome shared_transport::inject(int rank, const void *bytes, std::size_t size) noexcept {
    link *const other = to(rank);
    if (!other || !other->reachable || size > shape_.most) [[unlikely]]
        return outcome::failed;
    const bool in_order = tell_ || !other->used; // the first message notifies, so that its ring is polled
    switch (other->out.put(bytes, size, in_order)) {
    case ring_state::ready:
        other->used = true;
        break;
    case ring_state::not_now:
        return outcome::again;
    case ring_state::broken:
        other->reachable = false;
        return outcome::failed;
    }
    if (in_order && other->out.unwatched())
        other->word->filled.fetch_or(other->bit, std::memory_order_release);
    return outcome::done;
}

outcome shared_transport::send(packet &p) noexcept {
    p.kind = posted_kind::send;
    const outcome how = inject(p.rank, p.data(), p.size);
    if (how == outcome::done)
        end(p, event::kind::sent);
    return how;
}

outcome shared_transport::post(packet &p) noexcept {
    p.kind = posted_kind::receive;
    p.next = posted_;
    posted_ = &p;
    return outcome::done;
}

// Starts polling the rings of the ranks that have notified.
void shared_transport::find_filled() noexcept {
    slot_word *const words = words_of(own_head_);
    for (std::size_t i = 0; i * 64 < slots_; ++i) {
        if (words[i].filled.load(std::memory_order_relaxed) == 0) [[likely]]
            continue;
        std::uint64_t bits = words[i].filled.exchange(0, std::memory_order_acquire);
        for (; bits != 0; bits &= bits - 1) {
            const std::size_t slot = i * 64 + static_cast<std::size_t>(std::countr_zero(bits));
            if (slot >= slots_ || links_[slot].watched || !links_[slot].heard)
                continue;
            links_[slot].watched = true;
            links_[slot].idle = 0;
            watched_.push_back(&links_[slot]);
        }
    }
}

void shared_transport::accuse(link &who) noexcept {
    FULT_ASSERT(who.heard, "a rank is accused once");
    who.heard = false;
    who.reachable = false;
    accused_.push_back(&who);
}

unsigned shared_transport::drain(link &from, std::span<event> events) noexcept {
    unsigned count = 0;
    while (count < events.size() && posted_) {
        std::size_t size = 0;
        const ring_state there = from.in.look(size);
        if (there == ring_state::not_now)
            break;
        if (there == ring_state::broken || size > posted_->capacity) [[unlikely]] {
            accuse(from);
            break;
        }
        packet &p = *std::exchange(posted_, posted_->next);
        p.next = nullptr;
        from.in.take(p.data(), size);
        FULT_ASSERT(size <= p.capacity);
        p.size = static_cast<std::uint32_t>(size);
        events[count++] = {event::kind::received, &p};
    }
    if (count != 0) {
        from.in.give_room();
        from.idle = 0;
    } else {
        ++from.idle;
    }
    return count;
}

unsigned shared_transport::poll(std::span<event> events) noexcept {
    unsigned count = 0;
    if (moving_) [[unlikely]]
        move_on();
    while (ended_ && count < events.size()) {
        posted *const what = ended_.take();
        events[count++] = {static_cast<event::kind>(note_of(*what, how_it_ended)), what};
    }
    while (!accused_.empty() && posted_ && count < events.size())
        [[unlikely]] {
            packet &p = *std::exchange(posted_, posted_->next);
            p.next = nullptr;
            p.size = 0;
            p.rank = accused_.back()->rank;
            accused_.pop_back();
            events[count++] = {event::kind::lost, &p};
        }
    find_filled();
    std::size_t at = next_;
    for (std::size_t left = watched_.size(); left != 0 && posted_ && count < events.size(); --left) {
        if (at >= watched_.size())
            at = 0;
        link &from = *watched_[at];
        FULT_ASSERT(from.watched);
        count += drain(from, events.subspan(count));
        if (from.heard && !(tell_ && from.idle > silent_polls && from.in.rest())) [[likely]] {
            ++at;
            continue;
        }
        from.watched = false;
        watched_[at] = watched_.back();
        watched_.pop_back();
    }
    next_ = at;
    return count;
}

// Transfers -------------------------------------------------------------------------------------------------

void shared_transport::end(posted &what, event::kind how) noexcept {
    note(what, how_it_ended, static_cast<std::uintptr_t>(how));
    ended_.add(what);
}

outcome shared_transport::move(transfer &t, direction to_where) noexcept {
    link *const other = to(t.rank);
    if (!other || !other->reachable || !one_sided_)
        return outcome::failed;
    t.kind = posted_kind::transfer;
    if (moving_ || t.size > at_once) {
        note(t, bytes_moved, 0);
        note(t, where_it_goes, static_cast<std::uintptr_t>(to_where));
        moving_.add(t);
        return outcome::done;
    }
    const int error = copy_between(other->process, t.address, t.local, t.size, to_where);
    if (error == ESRCH) {
        other->reachable = false;
        return outcome::failed;
    }
    end(t, error == 0 ? event::kind::moved : event::kind::lost);
    return outcome::done;
}

// Copies the next part of the oldest transfer.
void shared_transport::move_on() noexcept {
    auto &t = static_cast<transfer &>(*moving_.first);
    link &other = *to(t.rank);
    const std::size_t done = note_of(t, bytes_moved);
    FULT_ASSERT(done < t.size || t.size == 0);
    FULT_ASSERT(t.kind == posted_kind::transfer, "only transfers are queued");
    const std::size_t size = std::min(a_piece, t.size - done);
    const int error = copy_between(other.process, t.address + done, static_cast<std::byte *>(t.local) + done,
                                   size, static_cast<direction>(note_of(t, where_it_goes)));
    if (error == ESRCH)
        other.reachable = false;
    if (error == 0 && done + size != t.size) {
        note(t, bytes_moved, done + size);
        return;
    }
    moving_.take();
    end(t, error == 0 ? event::kind::moved : event::kind::lost);
}

bool shared_transport::has_taken_all(int rank) noexcept {
    const link *const other = to(rank);
    return other && other->used && other->out.is_empty();
}

// A ring that is not heard any more counts as empty.
bool shared_transport::holds_packet_of(int rank) noexcept {
    const link *const other = to(rank);
    std::size_t size = 0;
    return other && other->heard && other->in.look(size) != ring_state::not_now;
}

void shared_transport::forget(int rank) noexcept {
    if (link *const other = to(rank))
        other->reachable = false;
    queue kept;
    while (moving_) {
        auto &t = static_cast<transfer &>(*moving_.take());
        if (t.rank == rank)
            end(t, event::kind::lost);
        else
            kept.add(t);
    }
    moving_ = kept;
}

bool shared_transport::register_memory(memory &m) noexcept {
    m.address = fult::detail::address_of(m.base);
    m.key = next_key_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

} // namespace fult::comm::detail
