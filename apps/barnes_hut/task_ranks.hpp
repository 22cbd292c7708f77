// The forces by tasks, one for each block of bodies. A rank's tree lies in its heap; a task that opens a cell
// of another rank reads it through the cache of its own rank, and suspends alone until it is there. What one
// task has fetched, all have. Source: section 4.1 of PPL.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fult/fult.hpp>
#include <fult/global.hpp>

#include "apps/support/rank_cache.hpp"
#include "apps/support/version.hpp"
#include "command_line.hpp"
#include "own_forces.hpp"
#include "program.hpp"

namespace barnes_hut {

// What the others know of a rank's tree. A rank without bodies has no points in the root.
struct remote_tree {
    cell root;
    fult::global::global_ptr<cell> cells;
    fult::global::global_ptr<point> points;
};

// A cell of another rank with few bodies: all below it is one line, and so are the bodies, which are fetched
// if a leaf is opened.
class remote_part {
  public:
    remote_part(fult::global::cache &lines, const remote_tree &of, const cell &top)
        : lines_(&lines), of_(&of), top_(top) {
        if (top.children != 0)
            cells_ = lines.get(of.cells + std::ptrdiff_t(top.first_child), top.descendants);
    }
    const cell &child(const cell &of, std::uint32_t k) const {
        return cells_[of.first_child - top_.first_child + k];
    }
    std::span<const point> points(const cell &leaf) {
        if (!points_)
            points_ = lines_->get(of_->points + std::ptrdiff_t(top_.first_point), top_.points);
        return points_.span().subspan(leaf.first_point - top_.first_point, leaf.points);
    }

  private:
    fult::global::cache *lines_;
    const remote_tree *of_;
    cell top_;
    fult::global::cached<cell> cells_;
    fult::global::cached<point> points_;
};

class task_ranks {
  public:
    static constexpr apps::version version = apps::version::tasks;

    task_ranks(fult::comm::context &net, const command_line &wanted)
        : net_(net),
          all_(net.world()),
          line_(wanted.line),
          memory_(all_, {.heap = heap_for(wanted.bodies / std::uint64_t(net.size()) + 1)}),
          lines_(memory_, apps::rank_cache(wanted.cache)) {}

    int rank() const { return all_.rank(); }
    int size() const { return all_.size(); }
    void sum(std::span<double> values) { fult::comm::allreduce(all_, values, values, std::plus<double>{}); }
    void largest(std::span<double> values) {
        fult::comm::allreduce(all_, values, values, [](double a, double b) { return std::max(a, b); });
    }

    effort attract(std::vector<body> &own, const cube &around, const force_settings &how) {
        effort spent;
        auto begin = barnes_hut::clock::now();
        const tree made = tree_of(own, around);
        const published here(memory_, made);
        std::vector<remote_tree> trees(static_cast<std::size_t>(size()));
        fult::comm::allgather(all_, here.shown(), trees); // all trees are there
        spent.tree = seconds_since(begin);
        begin = barnes_hut::clock::now();
        const std::uint64_t before = lines_.counters().misses;
        spent.interactions = double(attract_blocks(own, made, trees, how));
        spent.walk = seconds_since(begin);
        spent.transfers = lines_.counters().misses - before;
        lines_.end_phase(); // nobody reads this tree any more
        return spent;
    }

  private:
    // A copy of the tree in the heap of this rank.
    class published {
      public:
        published(fult::global::memory &in, const tree &of)
            : in_(in), cells_(copy(of.cells)), points_(copy(of.points)) {
            if (!of.cells.empty())
                root_ = of.cells[0];
        }
        published(const published &) = delete;
        published &operator=(const published &) = delete;
        ~published() {
            in_.deallocate(cells_);
            in_.deallocate(points_);
        }
        remote_tree shown() const { return {root_, cells_, points_}; }

      private:
        template <class T> fult::global::global_ptr<T> copy(const std::vector<T> &from) {
            const auto to = in_.allocate<T>(from.size());
            std::copy(from.begin(), from.end(), in_.local(to, from.size()));
            return to;
        }
        fult::global::memory &in_;
        cell root_;
        fult::global::global_ptr<cell> cells_;
        fult::global::global_ptr<point> points_;
    };

    // Each cell that is no leaf has two children at least, and each leaf has a point.
    static std::size_t heap_for(std::uint64_t bodies) {
        return std::size_t(bodies * (sizeof(point) + 2 * sizeof(cell))) + 4096;
    }
    // What a block sees of the other ranks' trees.
    class remote_outlook {
      public:
        explicit remote_outlook(fult::comm::context &net) : net_(net) {}
        template <class Act>
        void survey(remote_part part, const viewer &block, const cell &top, const Act &act) {
            parts_.survey(std::move(part), block, top, act);
        }
        template <class Act> void walk(const viewer &group, const Act &act) {
            if (net_.progress()) // other ranks wait for lines of this one's tree, and tasks for theirs
                fult::this_task::yield();
            parts_.walk(group, act);
        }

      private:
        fult::comm::context &net_;
        outlook<remote_part> parts_;
    };

    // Returns the interactions.
    std::uint64_t attract_blocks(std::vector<body> &own, const tree &made,
                                 const std::vector<remote_tree> &trees, const force_settings &how) {
        const std::vector<group> groups = groups_of(made, how.group);
        const auto survey_others = [&](const viewer &block, const auto &act) {
            remote_outlook seen(net_);
            for (const remote_tree &each : trees)
                if (each.cells.rank() != rank() && each.root.points != 0)
                    survey_tree(each, block, each.root, act, seen);
            return seen;
        };
        std::atomic<std::uint64_t> interactions{0};
        fult::task_group tasks;
        for (const auto &block : blocks_of(made, groups))
            tasks.spawn([&, block] { interactions += attract_block(own, block, made, how, survey_others); });
        tasks.wait();
        return interactions;
    }
    // A cell with more bodies than a line acts on the whole block, or is opened by it.
    template <class Act>
    void survey_tree(const remote_tree &of, const viewer &block, const cell &at, const Act &act,
                     remote_outlook &seen) {
        if (block.is_small(at)) {
            act(at.all);
        } else if (at.points <= line_ || at.children == 0) {
            seen.survey(remote_part(lines_, of, at), block, at, act);
        } else {
            const auto children = lines_.get(of.cells + std::ptrdiff_t(at.first_child), at.children);
            for (const cell &each : children.span())
                survey_tree(of, block, each, act, seen);
        }
    }

    fult::comm::context &net_;
    fult::comm::endpoint &all_;
    unsigned line_;
    fult::global::memory memory_;
    fult::global::cache lines_;
};

} // namespace barnes_hut
