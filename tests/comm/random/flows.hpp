// Flows of messages from one actor to one other, as all ranks derive them.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {

struct flow {
    int source;
    int destination;
    std::uint32_t tag;
    std::uint64_t seed;
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> rooms; // of the receives; one that is smaller than its message is an error

    std::size_t count() const noexcept { return sizes.size(); }
    bool too_long(std::size_t i) const noexcept { return rooms[i] < sizes[i]; }
    std::uint64_t content(std::size_t i) const noexcept { return seed_of(seed, i); }
};

inline flow flow_of(const scene &in, std::uint32_t which) {
    dice d = in.shared(which);
    flow f{d.below(in.me.size), d.below(in.me.size), in.tag(which), d.next(), {}, {}};
    const bool truncating = d.chance(25);
    std::size_t left = 2'000'000;
    const std::size_t most = d.chance(50) ? 3000 : 600'000;
    for (std::size_t n = d.between(1U, d.chance(20) ? 300U : 40U); n > 0; --n) {
        f.sizes.push_back(random_size(d, in.with.options, std::min(left, most)));
        left -= f.sizes.back();
        const std::size_t size = f.sizes.back();
        f.rooms.push_back(truncating && size > 0 && d.chance(20) ? d.below(size)
                          : d.chance(60)                         ? size
                                                                 : size + d.below(std::size_t{500}));
    }
    return f;
}

inline std::vector<const_buffer> pieces_of(dice &d, const std::byte *data, std::size_t size) {
    std::vector<const_buffer> all;
    while (size > 0 && all.size() < 6) {
        const std::size_t some = d.below(size + 1);
        all.push_back({data, some});
        data += some;
        size -= some;
    }
    all.push_back({data, size});
    return all;
}

inline std::vector<mutable_buffer> rooms_of(dice &d, std::byte *data, std::size_t size) {
    std::vector<mutable_buffer> all;
    for (const const_buffer &each : pieces_of(d, data, size))
        all.push_back({data + (static_cast<const std::byte *>(each.data) - data), each.size});
    return all;
}

// How many operations are begun before the first one is waited for.
inline std::size_t batch_size(dice &d, std::size_t left) {
    return std::min<std::size_t>(left, d.chance(70) ? d.between(1U, 4U) : d.between(1U, 32U));
}

} // namespace fult::comm::testing
