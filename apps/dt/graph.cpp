#include "graph.hpp"

#include <algorithm>
#include <array>

namespace dt {
namespace {

constexpr int fan = 4; // streams that a node of a black hole combines

// Adds `count` nodes, of which each receives from the next `fan` of the `width` nodes from `first` on.
void add_layer(graph &into, role does, int count, int first, int width) {
    for (int i = 0; i < count; ++i) {
        const int head = into.add_node(does);
        for (int j = i * fan; j < std::min((i + 1) * fan, width); ++j)
            into.add_arc(first + j, head);
    }
}

graph make_black_hole(int sources) {
    graph made;
    for (int i = 0; i < sources; ++i)
        made.add_node(role::source);
    int first = 0, width = sources;
    while (width > fan) {
        const int combined = (width + fan - 1) / fan;
        add_layer(made, role::comparator, combined, first, width);
        first += width;
        width = combined;
    }
    add_layer(made, role::sink, 1, first, width);
    return made;
}

// Layers as wide as the sources; in layer k a node receives from the two nodes whose numbers differ in bit k.
graph make_shuffle(int sources) {
    graph made;
    for (int i = 0; i < sources; ++i)
        made.add_node(role::source);
    int first = 0;
    for (int mask = 1; mask < sources; mask <<= 1) {
        const role does = mask * 2 == sources ? role::sink : role::comparator;
        for (int i = 0; i < sources; ++i) {
            const int head = made.add_node(does);
            made.add_arc(first + (i & ~mask), head);
            made.add_arc(first + (i | mask), head);
        }
        first += sources;
    }
    return made;
}

} // namespace

int graph::add_node(role does) {
    const int id = int(nodes_.size());
    nodes_.push_back({id, does, {}, {}});
    return id;
}

int graph::add_arc(int tail, int head) {
    const int id = int(arcs_.size());
    arcs_.push_back({tail, head});
    nodes_[std::size_t(tail)].out.push_back(id);
    nodes_[std::size_t(head)].in.push_back(id);
    return id;
}

graph graph::mirrored() const {
    graph made;
    const int last = int(nodes_.size()) - 1;
    for (int id = last; id >= 0; --id) {
        const role does = nodes_[std::size_t(id)].does;
        made.add_node(does == role::source ? role::sink : does == role::sink ? role::source : does);
    }
    for (const arc &each : arcs_)
        made.add_arc(last - each.head, last - each.tail);
    return made;
}

graph make_graph(shape form, int width) {
    switch (form) {
    case shape::black_hole:
        return make_black_hole(width);
    case shape::white_hole:
        return make_black_hole(width).mirrored();
    case shape::shuffle:
        break;
    }
    return make_shuffle(width);
}

const char *short_name(shape form) {
    constexpr std::array names{"BH", "WH", "SH"};
    return names[std::size_t(form)];
}

} // namespace dt
