#include "uts/tree.hpp"

#include <cmath>
#include <cstddef>
#include <iterator>

namespace bench::uts {

parameters current_tree;

namespace {
constexpr unsigned most_children = 100; // of any node but a binomial root

// The digest's last word without its sign, as a number in [0, 1).
double uniform(const node &of) noexcept { return double(of.state[4] & 0x7fffffffu) / 2147483648.0; }

// The mean number of children that a geometric node of this depth is drawn from.
double mean_children(int depth) noexcept {
    const parameters &tree = current_tree;
    if (depth == 0)
        return tree.root_branching;
    switch (tree.shape) {
    case tree_shape::exponential:
        return tree.root_branching *
               std::pow(double(depth), -std::log(tree.root_branching) / std::log(double(tree.depth)));
    case tree_shape::cyclic:
        if (depth > 5 * tree.depth)
            return 0;
        return std::pow(tree.root_branching,
                        std::sin(2.0 * 3.141592653589793 * double(depth) / double(tree.depth)));
    case tree_shape::fixed:
        return depth < tree.depth ? tree.root_branching : 0;
    case tree_shape::linear:
        break;
    }
    return tree.root_branching * (1.0 - double(depth) / double(tree.depth));
}

// Inverts the distribution function of the geometric distribution with that mean.
unsigned geometric_children(const node &of) noexcept {
    const double p = 1.0 / (1.0 + mean_children(of.depth));
    return unsigned(int(std::floor(std::log(1.0 - uniform(of)) / std::log(1.0 - p))));
}

unsigned binomial_children(const node &of) noexcept {
    return uniform(of) < current_tree.probability ? unsigned(current_tree.children) : 0;
}

unsigned limited(unsigned count) noexcept { return count < most_children ? count : most_children; }
} // namespace

node root_node() noexcept { return {hash_seed(std::uint32_t(current_tree.seed)), 0}; }

unsigned child_count(const node &parent) noexcept {
    const parameters &tree = current_tree;
    switch (tree.type) {
    case tree_type::binomial:
        return parent.depth == 0 ? unsigned(std::floor(tree.root_branching))
                                 : limited(binomial_children(parent));
    case tree_type::geometric:
        return limited(geometric_children(parent));
    case tree_type::hybrid:
        return limited(parent.depth < tree.shift * tree.depth ? geometric_children(parent)
                                                              : binomial_children(parent));
    case tree_type::balanced:
        return parent.depth < tree.depth ? unsigned(tree.root_branching) : 0;
    }
    return 0;
}

namespace {
parameters geometric(tree_shape shape, int depth, double branching, int seed) {
    parameters tree;
    tree.shape = shape;
    tree.depth = depth;
    tree.root_branching = branching;
    tree.seed = seed;
    return tree;
}
parameters binomial(double probability, int children, int seed) {
    parameters tree;
    tree.type = tree_type::binomial;
    tree.root_branching = 2000;
    tree.probability = probability;
    tree.children = children;
    tree.seed = seed;
    return tree;
}
parameters hybrid(int depth, double branching, int seed) {
    parameters tree = geometric(tree_shape::linear, depth, branching, seed);
    tree.type = tree_type::hybrid;
    return tree;
}

using enum tree_shape;
const named_tree trees[] = {
    {"T1", geometric(fixed, 10, 4, 19), {4130071, 3305118, 10}},
    {"T2", geometric(cyclic, 16, 6, 502), {4117769, 2342762, 81}},
    {"T3", binomial(0.124875, 8, 42), {4112897, 3599034, 1572}},
    {"T4", hybrid(16, 6, 1), {4132453, 3108986, 134}},
    {"T5", geometric(linear, 20, 4, 34), {4147582, 2181318, 20}},
    {"T1L", geometric(fixed, 13, 4, 29), {102181082, 81746377, 13}},
    {"T2L", geometric(cyclic, 23, 7, 220), {96793510, 53791152, 67}},
    {"T3L", binomial(0.200014, 5, 7), {111345631, 89076904, 17844}},
    {"T1XL", geometric(fixed, 15, 4, 29), {1635119272, 1308100063, 15}},
    {"T1XXL", geometric(fixed, 15, 4, 19), {4230646601, 0, 15}},
    {"T2XXL", binomial(0.499999995, 2, 0), {10612052303, 5306027151, 216370}},
    {"T3XXL", binomial(0.499995, 2, 316), {2793220501, 0, 0}},
    {"T1WL", geometric(fixed, 18, 4, 19), {270751679750, 216601257283, 18}},
    {"T2WL", binomial(0.4999999995, 2, 559), {295393891003, 147696946501, 1021239}},
    {"T3WL", binomial(0.4999995, 2, 559), {157063495159, 78531748579, 758577}},
};

bool same(const parameters &a, const parameters &b) noexcept {
    return a.type == b.type && a.shape == b.shape && a.root_branching == b.root_branching &&
           a.depth == b.depth && a.probability == b.probability && a.children == b.children &&
           a.seed == b.seed && a.shift == b.shift;
}
} // namespace

const named_tree *find_tree(const std::string &name) noexcept {
    for (const named_tree &each : trees)
        if (name == each.name)
            return &each;
    return nullptr;
}

const named_tree *find_tree(const parameters &tree) noexcept {
    for (const named_tree &each : trees)
        if (same(each.tree, tree))
            return &each;
    return nullptr;
}

std::string all_names() {
    std::string names;
    for (const named_tree &each : trees) {
        if (!names.empty())
            names += ' ';
        names += each.name;
    }
    return names;
}

} // namespace bench::uts
