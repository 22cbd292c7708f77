// Ranks as threads of one process, which exchange through their common memory: an exchange of its own, to
// test what the programs share.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <thread>
#include <vector>

#include "apps/bfs/exchange.hpp"
#include "apps/bfs/search.hpp"

namespace bfs::testing {

class thread_ranks {
  public:
    // What the ranks see of each other.
    struct shared {
        explicit shared(int ranks) : arrived(ranks), values(std::size_t(ranks)), parts(std::size_t(ranks)) {}
        struct part {
            const void *elements;
            const std::vector<std::size_t> *counts;
        };
        std::barrier<> arrived;
        std::vector<std::int64_t> values;
        std::vector<part> parts;
    };

    thread_ranks(shared &all, int rank) : all_(all), rank_(rank) {}

    int rank() const { return rank_; }
    int size() const { return int(all_.values.size()); }

    std::int64_t sum(std::int64_t mine) {
        return combine(mine, [](std::int64_t a, std::int64_t b) { return a + b; });
    }
    std::int64_t largest(std::int64_t mine) {
        return combine(mine, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }

    template <class T>
    std::vector<T> exchange(const std::vector<T> &out, const std::vector<std::size_t> &counts,
                            std::vector<std::size_t> &arrived) {
        all_.parts[std::size_t(rank_)] = {out.data(), &counts};
        all_.arrived.arrive_and_wait();
        std::vector<T> in;
        arrived.clear();
        for (const shared::part &each : all_.parts) {
            const auto *begin = static_cast<const T *>(each.elements);
            for (int before = 0; before < rank_; ++before)
                begin += (*each.counts)[std::size_t(before)];
            arrived.push_back((*each.counts)[std::size_t(rank_)]);
            in.insert(in.end(), begin, begin + arrived.back());
        }
        all_.arrived.arrive_and_wait();
        return in;
    }

    void expand(const graph &g, tree &into, const frontier &at, std::vector<std::size_t> &next) {
        std::vector<update> out;
        scan(g, into, at, next, [&](int, const update &reached) { out.push_back(reached); });
        const auto in =
            deliver<update>(*this, out, [&](const update &each) { return g.among().owner(each.child); });
        claim_all(in, g.among(), into, at.next_level, next);
    }

  private:
    template <class How> std::int64_t combine(std::int64_t mine, const How &how) {
        all_.values[std::size_t(rank_)] = mine;
        all_.arrived.arrive_and_wait();
        std::int64_t result = all_.values[0];
        for (std::size_t i = 1; i < all_.values.size(); ++i)
            result = how(result, all_.values[i]);
        all_.arrived.arrive_and_wait();
        return result;
    }

    shared &all_;
    int rank_;
};

// Calls body(ranks) on so many ranks.
inline void on_ranks(int ranks, const std::function<void(thread_ranks &)> &body) {
    thread_ranks::shared all(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            thread_ranks mine(all, rank);
            body(mine);
        });
    for (std::thread &each : threads)
        each.join();
}

// A rank's part of a list.
inline std::span<const edge> part_of(const std::vector<edge> &list, const thread_ranks &ranks) {
    const std::size_t size = list.size(), n = std::size_t(ranks.size()), k = std::size_t(ranks.rank());
    return std::span(list).subspan(size * k / n, size * (k + 1) / n - size * k / n);
}

// The distance of each vertex from the root, by the simplest algorithm; -1: not connected.
inline std::vector<std::int32_t> distances(const std::vector<edge> &list, vertex vertices, vertex root) {
    std::vector<std::int32_t> found(std::size_t(vertices), -1);
    found[std::size_t(root)] = 0;
    for (bool changed = true; changed;) {
        changed = false;
        const auto relax = [&](vertex from, vertex to) {
            const std::int32_t there = found[std::size_t(from)];
            std::int32_t &here = found[std::size_t(to)];
            if (there != -1 && (here == -1 || here > there + 1)) {
                here = there + 1;
                changed = true;
            }
        };
        for (const edge &each : list) {
            relax(each.from, each.to);
            relax(each.to, each.from);
        }
    }
    return found;
}

} // namespace bfs::testing
