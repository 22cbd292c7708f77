// The frame of all versions of the tree search.
#pragma once

#include <cstdio>
#include <string>

#include "common/kernel.hpp"
#include "uts/tree.hpp"

namespace bench::uts {

// The options of the published program; a name sets them all.
struct command_line {
    int type = int(tree_type::geometric);
    int shape = int(tree_shape::linear);
    parameters tree;
    std::string name; // empty: by options

    void declare(arguments &line) {
        line.word(
            "TREE",
            [this](const std::string &word) {
                const named_tree *found = find_tree(word);
                if (!found)
                    return "there is no tree '" + word + "'; there are " + all_names();
                tree = found->tree;
                type = int(tree.type);
                shape = int(tree.shape);
                name = word;
                return std::string();
            },
            "a published tree: " + all_names());
        line.option("-t", type, "type: 0 binomial, 1 geometric, 2 hybrid, 3 balanced");
        line.option("-a", shape, "shape of a geometric tree: 0 linear, 1 exponential, 2 cyclic, 3 fixed");
        line.option("-b", tree.root_branching, "branching factor of the root");
        line.option("-d", tree.depth, "depth of a geometric or balanced tree");
        line.option("-q", tree.probability, "probability that a binomial node has children");
        line.option("-m", tree.children, "number of children of such a node");
        line.option("-r", tree.seed, "seed of the root");
        line.option("-f", tree.shift, "fraction of the depth above which a hybrid tree is geometric");
    }

    // Checks and completes the settings.
    void finish() {
        auto within = [](const char *option, double value, double low, double high) {
            if (!(value >= low && value <= high))
                arguments::fail(std::string("option ") + option + ": out of its range, " +
                                std::to_string(low) + " to " + std::to_string(high));
        };
        within("-t", type, 0, 3);
        within("-a", shape, 0, 3);
        within("-b", tree.root_branching, 0, 1e6);
        within("-d", tree.depth, 1, 1e6);
        within("-q", tree.probability, 0, 1);
        within("-m", tree.children, 0, 100);
        within("-f", tree.shift, 0, 1);
        tree.type = tree_type(type);
        tree.shape = tree_shape(shape);
        const named_tree *known = find_tree(tree);
        name = known ? known->name : "own";
        // T3L is such a tree, and known to end.
        if (!known && tree.type == tree_type::binomial && tree.probability * tree.children >= 1)
            arguments::fail("a binomial tree with q * m >= 1 may be infinite; make -q or -m smaller");
    }
};

inline std::string compare(const totals &found, const totals &right) {
    auto differ = [](const char *what, std::uint64_t is, std::uint64_t should) {
        return is == should || should == 0
                   ? std::string()
                   : std::to_string(is) + " " + what + " instead of " + std::to_string(should) + "; ";
    };
    return differ("nodes", found.nodes, right.nodes) + differ("leaves", found.leaves, right.leaves) +
           differ("levels", found.depth, right.depth);
}

inline int uts_main(int argc, char **argv, const version &how, totals (*search)(const node &)) {
    kernel_settings settings;
    command_line wanted;
    bool show = false;
    arguments line("uts: counts the nodes of an unbalanced tree, a task per node.");
    wanted.declare(line);
    line.option("--show", show, "write nodes, leaves and depth to standard error");
    settings.declare(line);
    line.parse(argc, argv);
    wanted.finish();

    totals found;
    job work;
    work.benchmark = "uts";
    work.name = wanted.name;
    work.warm_up = [&] {
        current_tree = parameters{};
        current_tree.shape = tree_shape::fixed;
        found = search(root_node());
        current_tree = wanted.tree;
    };
    work.compute = [&] { found = search(root_node()); };
    work.check = [&] {
        if (show)
            std::fprintf(stderr, "%s: %llu nodes, %llu leaves, depth %llu\n", wanted.name.c_str(),
                         static_cast<unsigned long long>(found.nodes),
                         static_cast<unsigned long long>(found.leaves),
                         static_cast<unsigned long long>(found.depth));
        const named_tree *known = find_tree(wanted.tree);
        return known ? compare(found, known->answer) : std::string();
    };
    work.done = [&] { return found.nodes; };
    return run_kernel(how, settings, work);
}

} // namespace bench::uts
