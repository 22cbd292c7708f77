// What a node of the graph does. The streams decide how features travel along the arcs:
//   features receive(int arc)               may suspend or block
//   void send(int arc, const features &)    may suspend or block
#pragma once

#include <cstdint>

#include "features.hpp"
#include "graph.hpp"
#include "problem.hpp"

namespace dt {

template <class Streams> void send_to_all(const node &from, const features &stream, Streams &&streams) {
    for (const int arc : from.out)
        streams.send(arc, stream);
}

// A comparator filters its streams into one.
template <class Streams> features combine(const problem &given, const node &at, Streams &&streams) {
    features kept(std::size_t(given.samples) * fields, 0.0);
    for (const int arc : at.in)
        filter(kept, streams.receive(arc), at.id);
    average(kept, at.in.size());
    return kept;
}

// A sink's checksum, a whole number. Truncated where NAS truncates.
template <class Streams> double checksum(const node &at, Streams &&streams) {
    const int weight = at.id + 1;
    std::int64_t sum = 0;
    for (const int arc : at.in)
        sum += int(weight * mean_square(streams.receive(arc)));
    return double(weight) * double(sum / std::int64_t(at.in.size()));
}

// Does all of a node's work. Returns the checksum of a sink, and 0 for other nodes.
template <class Streams> double run_node(const problem &given, const node &at, Streams &&streams) {
    switch (at.does) {
    case role::source:
        send_to_all(at, random_features(given, at.id), streams);
        return 0;
    case role::comparator:
        send_to_all(at, combine(given, at, streams), streams);
        return 0;
    case role::sink:
        break;
    }
    return checksum(at, streams);
}

} // namespace dt
