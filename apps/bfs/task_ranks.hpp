// The searches by tasks that block: a rank has searchers, and for each searcher of another rank a task that
// receives from it. A task that waits for a message suspends, and costs no processor time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include <fult/comm.hpp>

#include "apps/support/version.hpp"
#include "search.hpp"

namespace bfs {

class task_ranks {
  public:
    static constexpr apps::version version = apps::version::tasks;

    // All ranks have the same number of searchers.
    task_ranks(fult::comm::endpoint &all, int searchers) : all_(all), searchers_(searchers) {}

    int rank() const { return all_.rank(); }
    int size() const { return all_.size(); }
    std::int64_t sum(std::int64_t mine) { return fult::comm::allreduce(all_, mine, std::plus<>{}); }
    std::int64_t largest(std::int64_t mine) {
        return fult::comm::allreduce(all_, mine,
                                     [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }

    template <class T>
    std::vector<T> exchange(const std::vector<T> &out, const std::vector<std::size_t> &counts,
                            std::vector<std::size_t> &arrived) {
        arrived.resize(counts.size());
        fult::comm::alltoall(all_, counts, arrived);
        std::vector<T> in(std::accumulate(arrived.begin(), arrived.end(), std::size_t{0}));
        fult::comm::alltoallv(all_, out, counts, in, arrived);
        return in;
    }

    void expand(const graph &g, tree &into, const frontier &at, std::vector<std::size_t> &next) {
        level_tasks level{all_, g, into, at, {}};
        std::vector<std::vector<std::size_t>> claimed(std::size_t(searchers_) * std::size_t(size()));
        fult::task_group tasks;
        auto own = claimed.begin(); // of each task
        for (int searcher = 0; searcher < searchers_; ++searcher)
            for (int source = 0; source < size(); ++source, ++own)
                tasks.spawn([&level, searcher, source, &mine = *own] {
                    if (source == level.all.rank())
                        level.search(searcher, mine);
                    else
                        level.receive(searcher, source, mine);
                });
        tasks.wait();
        for (const auto &each : claimed)
            next.insert(next.end(), each.begin(), each.end());
    }

  private:
    // What the tasks of a level share. A searcher's number is the tag of its messages.
    struct level_tasks {
        fult::comm::endpoint &all;
        const graph &g;
        tree &into;
        const frontier &at;
        std::atomic<std::size_t> taken; // vertices of the frontier

        // Takes vertices of the frontier until none is left.
        void search(int searcher, std::vector<std::size_t> &claimed) {
            constexpr std::size_t at_once = 64;
            std::vector<std::vector<update>> out(std::size_t(all.size()));
            const auto route = [&](int owner, const update &reached) {
                std::vector<update> &messages = out[std::size_t(owner)];
                messages.push_back(reached);
                if (messages.size() == updates_in_message)
                    send(searcher, owner, messages);
            };
            const std::size_t last = at.vertices.size();
            for (;;) {
                const std::size_t first = taken.fetch_add(at_once, std::memory_order_relaxed);
                if (first >= last)
                    break;
                const auto part = at.vertices.subspan(first, std::min(at_once, last - first));
                scan(g, into, {part, at.next_level}, claimed, route);
            }
            for (int owner = 0; owner < all.size(); ++owner)
                if (owner != all.rank())
                    send(searcher, owner, out[std::size_t(owner)]); // shorter than the others: the last one
        }

        void send(int searcher, int owner, std::vector<update> &messages) {
            all.send(messages, owner, std::uint32_t(searcher));
            messages.clear();
        }

        // Claims what a searcher of another rank has reached here, until its last message of this level.
        void receive(int searcher, int source, std::vector<std::size_t> &claimed) {
            std::array<update, updates_in_message> messages;
            std::size_t count = 0;
            do {
                count = all.recv(messages, source, searcher).size / sizeof(update);
                claim_all(std::span(messages).first(count), g.among(), into, at.next_level, claimed);
            } while (count == updates_in_message);
        }
    };

    fult::comm::endpoint &all_;
    int searchers_;
};

} // namespace bfs
