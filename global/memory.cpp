#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/global/memory.hpp>

#include "global/state.hpp"

namespace fult::global {

using namespace detail;

heap_exhausted::heap_exhausted(int rank, std::uint64_t size, const std::string &text)
    : rank_(rank), size_(size), text_(text) {} // NOLINT(bugprone-throw-keyword-missing): a member
heap_exhausted::~heap_exhausted() = default;
const char *heap_exhausted::what() const noexcept { return text_.what(); }

std::string detail::to_string(place where) {
    if (where.word() == 0)
        return "null";
    char text[40];
    std::snprintf(text, sizeof text, "%d:0x%llx", where.rank(),
                  static_cast<unsigned long long>(where.offset()));
    return text;
}

memory::memory(comm::endpoint &ep, const memory_options &settings)
    : state_(std::make_unique<memory_state>(*this, ep, settings)) {
    barrier(); // no other rank starts a task here before all is there, and all have mapped this heap
    state_->objects.end_name();
}

memory::~memory() {
    static constexpr fult::detail::waiting_for ends{"global::memory: ends of tasks"};
    state_->replies_pending.wait(ends); // of tasks at other ranks that were detached
    try {
        barrier();
    } catch (const comm::error &) { // a rank that has ended accesses nothing
    }
    state_->running.wait(ends); // their replies have been sent: they end at once
    if (!state_->tags.all_free())
        fult::detail::misuse("global::memory", "destroyed while operations of this rank on others are under "
                                               "way; let them end before");
}

int memory::rank() const noexcept { return state_->rank; }
int memory::size() const noexcept { return state_->size; }

void memory::barrier() { comm::barrier(state_->replies); }

// The heap ------------------------------------------------------------------------------------------------------------

place memory::allocate_bytes(std::uint64_t bytes, std::size_t alignment) {
    if (bytes <= state_->objects.size())
        if (const auto offset = state_->objects.allocate(bytes, alignment))
            return {state_->rank, *offset};
    throw state_->exhausted("allocate", bytes);
}

void memory::deallocate_bytes(place objects) {
    if (objects.word() == 0)
        return;
    if (!state_->is_own(objects))
        throw std::invalid_argument("fult-global: deallocate: " + to_string(objects) +
                                    " lies in the heap of rank " + std::to_string(objects.rank()) +
                                    ", and this is rank " + std::to_string(state_->rank) +
                                    ": the rank that allocated it frees it");
    if (!state_->objects.deallocate(objects.offset()))
        throw std::invalid_argument("fult-global: deallocate: no allocation begins at " + to_string(objects) +
                                    ", or it was deallocated before");
}

void *memory::local_bytes(place where, std::uint64_t bytes) const {
    (void)state_->region_of("local", where, bytes);
    if (!state_->is_own(where))
        throw std::invalid_argument("fult-global: local: " + to_string(where) +
                                    " is not in the heap of rank " + std::to_string(state_->rank) +
                                    ": get or put it");
    return state_->address_of(where);
}

std::uint64_t memory::heap_size(int rank) const {
    if (rank < 0 || rank >= state_->size)
        throw std::out_of_range("fult-global: heap_size: there is no rank " + std::to_string(rank));
    return state_->heaps[static_cast<std::size_t>(rank)].region.size;
}
std::uint64_t memory::heap_in_use() const { return state_->objects.in_use(); }
std::uint64_t memory::heap_largest_free() const { return state_->objects.largest_free(); }

namespace {

// The lowest rank that has no room for a symmetric allocation is named.
constexpr std::int32_t all_have_room = max_ranks;

struct least {
    std::int32_t operator()(std::int32_t a, std::int32_t b) const noexcept { return a < b ? a : b; }
};

} // namespace

std::uint64_t memory::allocate_symmetric(std::uint64_t bytes, std::size_t alignment) {
    heap &own = state_->objects;
    constexpr std::uint64_t nowhere = ~std::uint64_t{0};
    const std::uint64_t offset =
        (bytes <= own.size() ? own.choose_symmetric(bytes, alignment) : std::nullopt).value_or(nowhere);
    const bool reserved = offset != nowhere && own.reserve_symmetric(offset, bytes);
    const std::int32_t lacks =
        comm::allreduce(state_->replies, reserved ? all_have_room : state_->rank, least());
    if (lacks == all_have_room)
        return offset;
    if (offset != nowhere)
        own.give_up_symmetric(offset, bytes, reserved);
    if (lacks == state_->rank)
        throw state_->exhausted("allocate_symmetric", bytes);
    throw heap_exhausted(lacks, bytes,
                         "fult-global: the heap of rank " + std::to_string(lacks) + " has no room for " +
                             std::to_string(bytes) +
                             " bytes of an object of all ranks; enlarge memory_options::heap");
}

void memory::deallocate_symmetric(std::uint64_t offset) { state_->objects.deallocate_symmetric(offset); }

// Accesses ------------------------------------------------------------------------------------------------------------

namespace {

// The bytes at `where`, which this process reaches.
void copy(const memory_state &state, place where, void *to, const void *from, std::size_t bytes) noexcept {
    if (bytes != 0)
        std::memcpy(to, from, bytes);
    state.has_accessed(where, bytes);
}

} // namespace

void memory::read(const char *call, place from, void *to, std::size_t bytes) {
    const rank_heap &of = state_->heap_of(call, from, bytes);
    if (const std::byte *const at = of.address(from))
        copy(*state_, from, to, at, bytes);
    else
        comm::get(state_->replies, to, bytes, of.region, from.offset());
}

void memory::write(const char *call, place to, const void *from, std::size_t bytes) {
    const rank_heap &of = state_->heap_of(call, to, bytes);
    if (std::byte *const at = of.address(to))
        copy(*state_, to, at, from, bytes);
    else
        comm::put(state_->replies, from, bytes, of.region, to.offset());
}

comm::request memory::start_read(place from, void *to, std::size_t bytes) {
    return comm::iget(state_->replies, to, bytes, state_->region_of("iget", from, bytes), from.offset());
}
comm::request memory::start_write(place to, const void *from, std::size_t bytes) {
    return comm::iput(state_->replies, from, bytes, state_->region_of("iput", to, bytes), to.offset());
}
void memory::start_read(place from, void *to, std::size_t bytes, comm::completion &object,
                        std::uint64_t user_data) {
    comm::iget(state_->replies, to, bytes, state_->region_of("iget", from, bytes), from.offset(), object,
               user_data);
}
void memory::start_write(place to, const void *from, std::size_t bytes, comm::completion &object,
                         std::uint64_t user_data) {
    comm::iput(state_->replies, from, bytes, state_->region_of("iput", to, bytes), to.offset(), object,
               user_data);
}

void memory::write_and_signal(place to, const void *from, std::size_t bytes, comm::endpoint &ep,
                              comm::tag_type tag) {
    comm::put_signal(ep, from, bytes, state_->region_of("put_signal", to, bytes), to.offset(), tag);
}

namespace {

// So many pieces are under way at a time: each takes memory until it ends.
constexpr std::size_t max_in_flight = 1024;

// Begins piece after piece, and waits once for all of a batch. If one cannot begin, those that have begun are
// waited for: they use the caller's memory.
template <class Begin> void in_batches(comm::endpoint &through, std::size_t count, const Begin &begin) {
    for (std::size_t first = 0; first < count; first += max_in_flight) {
        const std::size_t number = std::min(max_in_flight, count - first);
        comm::synchronizer ended(through, number);
        for (std::size_t i = 0; i < number; ++i)
            try {
                begin(first + i, ended);
            } catch (...) {
                for (std::size_t rest = i; rest < number; ++rest)
                    ended.arrive();
                try {
                    ended.wait();
                } catch (const comm::error &) { // what ended this call came first
                }
                throw;
            }
        ended.wait();
    }
}

// All places are checked before any byte moves.
void check_pieces(const memory_state &state, const char *call, const pieces &all, std::size_t bytes) {
    if (all.bytes != 0 ? bytes % all.bytes != 0 || bytes / all.bytes != all.count : bytes != 0)
        throw std::invalid_argument(std::string("fult-global: ") + call + ": " + std::to_string(bytes) +
                                    " bytes of the caller for " + std::to_string(all.count) + " pieces of " +
                                    std::to_string(all.bytes));
    for (std::size_t i = 0; i < all.count; ++i)
        (void)state.region_of(call, all.at(all.of, i), all.bytes);
}

} // namespace

void memory::read_pieces(const char *call, const pieces &from, void *to, std::size_t bytes) {
    check_pieces(*state_, call, from, bytes);
    in_batches(state_->replies, from.count, [&](std::size_t i, comm::synchronizer &ended) {
        const place where = from.at(from.of, i);
        std::byte *const piece = static_cast<std::byte *>(to) + i * from.bytes;
        const rank_heap &of = state_->heap_of(call, where, from.bytes);
        if (const std::byte *const at = of.address(where)) {
            copy(*state_, where, piece, at, from.bytes);
            ended.arrive();
        } else {
            comm::iget(state_->replies, piece, from.bytes, of.region, where.offset(), ended, i);
        }
    });
}

void memory::write_pieces(const char *call, const pieces &to, const void *from, std::size_t bytes) {
    check_pieces(*state_, call, to, bytes);
    in_batches(state_->replies, to.count, [&](std::size_t i, comm::synchronizer &ended) {
        const place where = to.at(to.of, i);
        const std::byte *const piece = static_cast<const std::byte *>(from) + i * to.bytes;
        const rank_heap &of = state_->heap_of(call, where, to.bytes);
        if (std::byte *const at = of.address(where)) {
            copy(*state_, where, at, piece, to.bytes);
            ended.arrive();
        } else {
            comm::iput(state_->replies, piece, to.bytes, of.region, where.offset(), ended, i);
        }
    });
}

} // namespace fult::global
