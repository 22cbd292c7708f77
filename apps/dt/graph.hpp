// The graphs of NAS DT: sources, comparators and sinks, and the arcs that carry streams of features between
// them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dt {

enum class shape { black_hole, white_hole, shuffle };
enum class role { source, comparator, sink };

struct arc {
    int tail; // the node that sends
    int head; // the node that receives
};

// Arcs are listed in the order in which the node uses them.
struct node {
    int id;
    role does;
    std::vector<int> in, out;
};

// Arcs lead from lower to higher numbers of nodes, so nodes that run in order never wait for a later one.
class graph {
  public:
    int add_node(role does);
    int add_arc(int tail, int head);
    // Reverses all arcs and the order of the nodes; sources become sinks.
    graph mirrored() const;

    const std::vector<node> &nodes() const { return nodes_; }
    const std::vector<arc> &arcs() const { return arcs_; }

  private:
    std::vector<node> nodes_;
    std::vector<arc> arcs_;
};

// `width`: the number of sources of a black hole or a shuffle, of sinks of a white hole; a power of two from
// 4 on.
graph make_graph(shape form, int width);

// "BH", "WH", "SH", as NAS abbreviates them.
const char *short_name(shape form);

} // namespace dt
