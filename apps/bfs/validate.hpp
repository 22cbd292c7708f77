// The five rules that a tree must satisfy (Graph500 specification 2.0, section 8), checked against the edge
// list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exchange.hpp"
#include "partition.hpp"
#include "tree.hpp"

namespace bfs {

// The first rule that is broken, and how often. Equal on all ranks.
struct verdict {
    int rule = 0; // 0: the tree is right
    std::int64_t times = 0;

    bool right() const { return rule == 0; }
    std::string text() const;
};

template <class Ranks> class validation {
  public:
    validation(Ranks &among_ranks, const partition &among, const tree &found, vertex root)
        : ranks_(among_ranks), among_(among), tree_(found), root_(root) {}

    // Each rank passes its part of the edge list. Collective.
    verdict check(std::span<const edge> list) {
        verdict result;
        const auto holds = [&](int rule, std::int64_t own) {
            result = {rule, ranks_.sum(own)};
            return result.times == 0;
        };
        if (!holds(1, outside_the_tree()) || !holds(2, wrong_levels()))
            return result;
        const edge_errors errors = check_edges(list);
        if (!holds(3, errors.far_apart) || !holds(4, errors.half_reached) || !holds(5, errors.not_joined))
            return result;
        return {};
    }

  private:
    struct entry {
        vertex parent;
        std::int64_t level;
    };
    struct edge_errors {
        std::int64_t far_apart, half_reached, not_joined;
    };

    bool in_tree(std::size_t local) const { return tree_.parents[local] != no_vertex; }

    // Own vertices with a parent from which no path of parents leads to the root: cycles, and what hangs on
    // them. Paths are followed from the root, a step a round.
    std::int64_t outside_the_tree() {
        std::vector<char> connected(among_.own_vertices(), 0);
        std::vector<std::size_t> open;
        std::int64_t wrong = 0;
        for (std::size_t local = 0; local < connected.size(); ++local) {
            if (!in_tree(local) || among_.global(local) == root_)
                continue;
            if (among_.contains(tree_.parents[local]))
                open.push_back(local);
            else
                ++wrong; // no vertex has this number
        }
        if (among_.is_own(root_)) {
            connected[among_.local(root_)] = 1;
            wrong += tree_.parents[among_.local(root_)] != root_;
        }
        std::size_t before = 0;
        do {
            before = open.size();
            open = still_open(open, connected);
        } while (ranks_.sum(std::int64_t(before - open.size())) != 0);
        return wrong + std::int64_t(open.size());
    }

    // Those whose parents are not connected yet; the others become so.
    std::vector<std::size_t> still_open(const std::vector<std::size_t> &open, std::vector<char> &connected) {
        const auto of_parents = ask_about_parents(open, [&](std::size_t local) { return connected[local]; });
        std::vector<std::size_t> left;
        for (std::size_t i = 0; i < open.size(); ++i)
            if (of_parents[i])
                connected[open[i]] = 1;
            else
                left.push_back(open[i]);
        return left;
    }

    // Own vertices whose levels are not one more than those of their parents. The root's must be 0, and -1
    // outside the tree.
    std::int64_t wrong_levels() {
        std::vector<std::size_t> children;
        std::int64_t wrong = 0;
        for (std::size_t local = 0; local < among_.own_vertices(); ++local)
            if (!in_tree(local))
                wrong += tree_.levels[local] != -1;
            else if (among_.global(local) == root_)
                wrong += tree_.levels[local] != 0;
            else
                children.push_back(local);
        const auto of_parents =
            ask_about_parents(children, [&](std::size_t local) { return std::int64_t(tree_.levels[local]); });
        for (std::size_t i = 0; i < children.size(); ++i)
            wrong += tree_.levels[children[i]] != of_parents[i] + 1;
        return wrong;
    }

    template <class Answer>
    auto ask_about_parents(const std::vector<std::size_t> &children, const Answer &answer) {
        std::vector<vertex> parents;
        for (const std::size_t local : children)
            parents.push_back(tree_.parents[local]);
        return ask_owners(ranks_, among_, parents, answer);
    }

    edge_errors check_edges(std::span<const edge> list) {
        edge_errors errors{};
        std::vector<char> joined(among_.own_vertices(), 0); // to the parent, by an edge of the list
        in_batches(ranks_, list, [&](std::span<const edge> part) {
            const std::vector<vertex> children = check_part(part, errors);
            const auto owner = [&](vertex v) { return among_.owner(v); };
            for (const vertex child : deliver<vertex>(ranks_, children, owner))
                joined[among_.local(child)] = 1;
        });
        for (std::size_t local = 0; local < joined.size(); ++local)
            errors.not_joined += in_tree(local) && among_.global(local) != root_ && !joined[local];
        return errors;
    }

    // Counts the errors, and returns the vertices that an edge joins to their parents.
    std::vector<vertex> check_part(std::span<const edge> part, edge_errors &errors) {
        std::vector<vertex> ends;
        for (const edge &each : part)
            ends.insert(ends.end(), {each.from, each.to});
        const auto entries = ask_owners(ranks_, among_, ends, [&](std::size_t local) {
            return entry{tree_.parents[local], tree_.levels[local]};
        });
        std::vector<vertex> children;
        for (std::size_t i = 0; i < part.size(); ++i) {
            const entry &from = entries[2 * i], &to = entries[2 * i + 1];
            const bool has_from = from.parent != no_vertex, has_to = to.parent != no_vertex;
            errors.half_reached += has_from != has_to;
            errors.far_apart +=
                has_from && has_to && (from.level - to.level > 1 || to.level - from.level > 1);
            if (from.parent == part[i].to)
                children.push_back(part[i].from);
            if (to.parent == part[i].from)
                children.push_back(part[i].to);
        }
        return children;
    }

    Ranks &ranks_;
    const partition &among_;
    const tree &tree_;
    vertex root_;
};

template <class Ranks>
verdict validate(Ranks &ranks, const partition &among, std::span<const edge> list, const tree &found,
                 vertex root) {
    return validation<Ranks>(ranks, among, found, root).check(list);
}

} // namespace bfs
