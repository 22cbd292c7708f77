// The trees of the Unbalanced Tree Search benchmark (Olivier and others, LCPC 2006), node by node.
//
// A node is a SHA-1 digest: that of its parent's digest and its own index. The digest determines how many
// children it has, so a tree is fixed by a few parameters and its shape cannot be known beforehand. Types,
// shapes, formulas and the named trees are those of the published benchmark; the numbers of nodes must agree.
#pragma once

#include <cstdint>
#include <string>

#include "uts/sha1.hpp"

namespace bench::uts {

enum class tree_type : int { binomial, geometric, hybrid, balanced };
enum class tree_shape : int {
    linear,
    exponential,
    cyclic,
    fixed
}; // how the branching of a geometric tree goes with depth

struct parameters {
    tree_type type = tree_type::geometric;
    tree_shape shape = tree_shape::linear;
    double root_branching = 4; // -b: children of a binomial root; mean number of children at a geometric root
    int depth = 6;             // -d: of a geometric or balanced tree
    double probability = 15.0 / 64; // -q: that a binomial node has children
    int children = 4;               // -m: how many it has then
    int seed = 0;                   // -r
    double shift = 0.5;             // -f: a hybrid tree is geometric above this fraction of its depth
};

// The counts of a whole tree.
struct totals {
    std::uint64_t nodes = 0;
    std::uint64_t leaves = 0;
    std::uint64_t depth = 0; // of the deepest node; the root's is 0
    void add(const totals &other) noexcept {
        nodes += other.nodes;
        leaves += other.leaves;
        depth = depth < other.depth ? other.depth : depth;
    }
};

// The tree that is searched; set before the search and constant while it runs.
extern parameters current_tree;

struct node {
    digest state;
    std::int32_t depth;
};

node root_node() noexcept;
unsigned child_count(const node &parent) noexcept;

inline node child_node(const node &parent, unsigned index) noexcept {
    return {hash_child(parent.state, index), parent.depth + 1};
}

struct named_tree {
    const char *name;
    parameters tree;
    totals answer; // as published; leaves or depth 0: not published
};

// Empty if there is no tree of that name; all_names lists them.
const named_tree *find_tree(const std::string &name) noexcept;
std::string all_names();

// The name of a tree with these parameters, or nothing.
const named_tree *find_tree(const parameters &tree) noexcept;

} // namespace bench::uts
