#include "global/state.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/waiter.hpp>

namespace fult::global::detail {

namespace {

// An endpoint of the same ranks.
comm::endpoint duplicate_endpoint(comm::endpoint &ep, std::int64_t tag, comm::endpoint_options options) {
    std::vector<int> members(static_cast<std::size_t>(ep.size()));
    std::iota(members.begin(), members.end(), 0);
    return ep.subset(members, tag, std::move(options));
}

// What a rank sends to the others at the start.
struct own_heap {
    comm::remote_region region;
    std::uint64_t wanted;
    memory_name name;
};

bool share_memory(const comm::endpoint &ep, int other) {
    static constexpr std::string_view of_this_host = "shared";
    return ep.route_to(other) == of_this_host;
}

// Memory of which no other rank of this host has use stays as it was: the system may give it larger pages.
mapped_memory::use use_of(const comm::endpoint &ep) {
    for (int other = 0; other < ep.size(); ++other)
        if (share_memory(ep, other))
            return mapped_memory::use::by_all;
    return mapped_memory::use::by_this_process;
}

} // namespace

memory_state::memory_state(memory &whole, comm::endpoint &ep, const memory_options &settings)
    : owner(whole),
      rank(ep.rank()),
      size(ep.size()),
      objects(settings.heap <= max_heap_bytes ? settings.heap : 0, use_of(ep)),
      replies(duplicate_endpoint(ep, 0, {})),
      own(replies, objects.begin(), objects.size()),
      heaps(std::make_unique<rank_heap[]>(static_cast<std::size_t>(size))),
      requests(
          duplicate_endpoint(ep, 1,
                             {.delivery = comm::delivery::handler,
                              .handler = [this](const comm::status &about,
                                                std::span<const std::byte> bytes) { handle(about, bytes); },
                              .rank_ended = [this](int which, comm::errc) { rank_ended(which); }})),
      tasks(
          duplicate_endpoint(ep, 2,
                             {.delivery = comm::delivery::task,
                              .handler = [this](const comm::status &about, std::span<const std::byte> bytes) {
                                  run_for(about, bytes);
                              }})) {
    exchange_heaps(settings.heap);
}

// All ranks see the same, so all throw if one lacks its heap. No request arrives before: the others wait
// here.
void memory_state::exchange_heaps(std::uint64_t wanted) {
    std::vector<own_heap> all(static_cast<std::size_t>(size));
    comm::allgather(replies, own_heap{own.remote(), wanted, objects.name()}, all);
    std::uint64_t smallest = max_heap_bytes;
    for (int other = 0; const own_heap &each : all) {
        if (size > max_ranks || each.wanted > max_heap_bytes)
            throw std::length_error("fult-global: memory: rank " + std::to_string(other) + " of " +
                                    std::to_string(size) + " wants a heap of " + std::to_string(each.wanted) +
                                    " bytes; the most are 2^43 on 2^20 ranks");
        if (each.region.size != each.wanted)
            throw heap_exhausted(other, each.wanted,
                                 "fult-global: memory: the system of rank " + std::to_string(other) +
                                     " has no memory for a heap of " + std::to_string(each.wanted) +
                                     " bytes; choose a smaller memory_options::heap");
        smallest = std::min(smallest, each.region.size);
        ++other;
    }
    objects.set_symmetric_size(smallest);
    for (int other = 0; const own_heap &each : all) {
        rank_heap &here = heaps[static_cast<std::size_t>(other)];
        here.region = each.region;
        FULT_ASSERT(each.region.size == each.wanted, "all ranks have their heaps");
        if (share_memory(replies, other))
            here.memory = mapped_memory(each.name, each.region.size);
        here.begin = other == rank ? objects.begin() : here.memory.begin();
        ++other;
    }
}

// Its memory stays: tasks may be accessing it. What comes later fails as it does for a rank of another host.
void memory_state::rank_ended(int which) noexcept {
    FULT_ASSERT(which >= 0 && which < size && which != rank, "another rank of the memory");
    heaps[static_cast<std::size_t>(which)].has_ended.store(true, std::memory_order_relaxed);
}

void memory_state::has_accessed(place where, std::size_t bytes) const noexcept {
    constexpr std::size_t bytes_per_access = 16384;
    if (is_own(where))
        return;
    for (std::size_t i = 0; i <= bytes / bytes_per_access; ++i)
        fult::detail::let_others_run_sometimes();
}

const rank_heap &memory_state::heap_of(const char *call, place where, std::uint64_t bytes) const {
    fult::detail::check_not_forked(); // its accesses would be the parent's
    const int owner = where.rank();
    if (owner < 0 || owner >= size) [[unlikely]]
        throw std::out_of_range(std::string("fult-global: ") + call + ": the pointer " + to_string(where) +
                                " is to none of the " + std::to_string(size) + " ranks");
    const rank_heap &found = heaps[static_cast<std::size_t>(owner)];
    const comm::remote_region &region = found.region;
    if (where.offset() > region.size || bytes > region.size - where.offset()) [[unlikely]]
        throw std::out_of_range(std::string("fult-global: ") + call + ": " + std::to_string(bytes) +
                                " bytes at " + to_string(where) + " are not within the heap of rank " +
                                std::to_string(owner) + ", which has " + std::to_string(region.size));
    return found;
}

heap_exhausted memory_state::exhausted(const char *call, std::uint64_t bytes) const {
    return {rank, bytes,
            std::string("fult-global: ") + call + ": the heap of rank " + std::to_string(rank) +
                " has no room for " + std::to_string(bytes) + " bytes: of " + std::to_string(objects.size()) +
                ", " + std::to_string(objects.in_use()) + " are in use, and the largest free part has " +
                std::to_string(objects.largest_free()) + "; enlarge memory_options::heap"};
}

} // namespace fult::global::detail
