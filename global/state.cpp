#include "global/state.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fult/detail/assertion.hpp>

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
};

} // namespace

memory_state::memory_state(memory &whole, comm::endpoint &ep, const memory_options &settings)
    : owner(whole),
      rank(ep.rank()),
      size(ep.size()),
      objects(settings.heap <= max_heap_bytes ? settings.heap : 0),
      replies(duplicate_endpoint(ep, 0, {})),
      own(replies, objects.begin(), objects.size()),
      requests(duplicate_endpoint(
          ep, 1,
          {.delivery = comm::delivery::handler,
           .handler = [this](const comm::status &about,
                             std::span<const std::byte> bytes) { handle(about, bytes); }})),
      tasks(
          duplicate_endpoint(ep, 2,
                             {.delivery = comm::delivery::task,
                              .handler = [this](const comm::status &about, std::span<const std::byte> bytes) {
                                  run_for(about, bytes);
                              }})) {
    exchange_regions(settings.heap);
}

// All ranks see the same, so all throw if one lacks its heap. No request arrives before: the others wait
// here.
void memory_state::exchange_regions(std::uint64_t wanted) {
    std::vector<own_heap> all(static_cast<std::size_t>(size));
    comm::allgather(replies, own_heap{own.remote(), wanted}, all);
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
        regions.push_back(each.region);
        ++other;
    }
    objects.set_symmetric_size(smallest);
    FULT_ASSERT(regions.size() == static_cast<std::size_t>(size), "a region of each rank");
}

const comm::remote_region &memory_state::region_of(const char *call, place where, std::uint64_t bytes) const {
    const int owner = where.rank();
    if (owner < 0 || owner >= size) [[unlikely]]
        throw std::out_of_range(std::string("fult-global: ") + call + ": the pointer " + to_string(where) +
                                " is to none of the " + std::to_string(size) + " ranks");
    const comm::remote_region &region = regions[static_cast<std::size_t>(owner)];
    if (where.offset() > region.size || bytes > region.size - where.offset()) [[unlikely]]
        throw std::out_of_range(std::string("fult-global: ") + call + ": " + std::to_string(bytes) +
                                " bytes at " + to_string(where) + " are not within the heap of rank " +
                                std::to_string(owner) + ", which has " + std::to_string(region.size));
    return region;
}

heap_exhausted memory_state::exhausted(const char *call, std::uint64_t bytes) const {
    return {rank, bytes,
            std::string("fult-global: ") + call + ": the heap of rank " + std::to_string(rank) +
                " has no room for " + std::to_string(bytes) + " bytes: of " + std::to_string(objects.size()) +
                ", " + std::to_string(objects.in_use()) + " are in use, and the largest free part has " +
                std::to_string(objects.largest_free()) + "; enlarge memory_options::heap"};
}

} // namespace fult::global::detail
