// Endpoints of some of the ranks.
#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// The ranks with that remainder, the last one first.
std::vector<int> backwards(const party &p, int step, int first) {
    std::vector<int> all;
    for (int rank = first; rank < p.size; rank += step)
        all.insert(all.begin(), rank);
    return all;
}
std::vector<int> everyone(const party &p) {
    std::vector<int> all(static_cast<std::size_t>(p.size));
    std::iota(all.begin(), all.end(), 0);
    return all;
}
bool contains(const std::vector<int> &all, int rank) {
    return std::find(all.begin(), all.end(), rank) != all.end();
}

// A message of each size from each rank to the next, received by its source or from any.
void circulate(endpoint &e, bool wild) {
    const int next = (e.rank() + 1) % e.size(), previous = (e.rank() + e.size() - 1) % e.size();
    std::uint32_t tag = 5;
    for (const std::size_t size : {std::size_t{8}, std::size_t{5000}, std::size_t{100'000}}) {
        const auto out = bytes_of(static_cast<unsigned>(e.rank()), size);
        std::vector<std::byte> in(size);
        request sent = e.isend(out, next, ++tag);
        if (wild)
            require_equal(e.probe(any_source, tag).source, previous, "source of a probe");
        require_status(e.recv(in, wild ? any_source : previous, tag), previous, tag, size);
        require(are_bytes_of(static_cast<unsigned>(previous), in), "bytes");
        require_equal(sent.wait().source, next, "destination");
        request coming = e.irecv(in, wild ? any_source : previous, tag);
        sent = e.isend(out, next, tag);
        require_status(coming.wait(), previous, tag, size);
        sent.wait();
    }
}

void some_ranks(party &p) {
    for (const bool wild : {false, true})
        for (int step = 1; step <= 2; ++step) {
            const auto members = backwards(p, step, p.rank % step);
            endpoint own = p.world.subset(members, 3, {.wildcards = wild});
            require_equal(own.size(), static_cast<int>(members.size()), "ranks");
            for (int rank = 0; rank < own.size(); ++rank)
                require_equal(own.world_rank(rank), members[static_cast<std::size_t>(rank)],
                              "number in the job");
            require_equal(own.world_rank(own.rank()), p.rank, "own number in the job");
            require_equal(own.world_rank(own.size()), -1, "no such rank");
            circulate(own, wild);
            require_equal(allreduce(own, 1, std::plus<>{}), own.size(), "sum");
            require_throw<std::out_of_range>([&] { own.send(1, own.size(), 1); });
            require_throw<std::out_of_range>([&] { own.recv<int>(own.size(), 1); });
            barrier(own);
        }
}

void one_of_a_subset(party &p) {
    endpoint reversed = p.world.subset(backwards(p, 1, 0), 1);
    std::vector<int> all = everyone(p);
    std::rotate(all.begin(), all.begin() + 1, all.end());
    endpoint rotated = reversed.subset(all, 2, {.wildcards = true});
    for (int rank = 0; rank < p.size; ++rank)
        require_equal(rotated.world_rank(rank), p.size - 1 - (rank + 1) % p.size, "number in the job");
    circulate(rotated, true);
    // Its order is that of the job again.
    endpoint again = reversed.subset(backwards(p, 1, 0), 2);
    require_equal(again.rank(), p.rank, "rank");
    circulate(again, false);
    const int self = rotated.rank();
    endpoint alone = rotated.subset(std::span(&self, 1), 7, {.wildcards = true});
    require_equal(alone.size(), 1, "ranks");
    request sent = alone.isend(std::span(&p.rank, 1), 0, 1);
    require_equal(alone.recv<int>(any_source, any_tag), p.rank, "own message");
    sent.wait();
}

// Tasks make endpoints at the same time, each rank in another order, with messages at once.
void many_at_once(party &p) {
    constexpr int each = 6;
    std::vector<handle<void>> tasks;
    for (int i = 0; i < 3 * each; ++i) {
        const int kind = (i + p.rank * 5) % (3 * each);
        tasks.push_back(spawn([&p, kind] {
            const auto tag = static_cast<std::uint32_t>(kind / 3);
            // The same tag for different lists, and different tags for the same list.
            const std::vector<int> members = kind % 3 == 0   ? everyone(p)
                                             : kind % 3 == 1 ? backwards(p, 1, 0)
                                                             : backwards(p, 2, p.rank % 2);
            for (int round = 0; round < 3; ++round) {
                endpoint own = p.world.subset(members, tag);
                const int to = (own.rank() + 1) % own.size(),
                          from = (own.rank() + own.size() - 1) % own.size();
                const int value = kind * 100 + round;
                request sent = own.isend(std::span(&value, 1), to, 1);
                require_equal(own.recv<int>(from, 1), value, "message of the same endpoint");
                sent.wait();
                barrier(own);
            }
        }));
    }
    join_all(tasks);
}

// Ids are used again.
void in_turn(party &p, int rounds) {
    const auto members = backwards(p, 1, 0);
    for (int i = 0; i < rounds; ++i) {
        endpoint own = p.world.subset(members, 1, {.wildcards = i % 2 == 0});
        const int to = (own.rank() + 1) % own.size(), from = (own.rank() + own.size() - 1) % own.size();
        request sent = own.isend(std::span(&i, 1), to, 1);
        require_equal(own.recv<int>(from, 1), i, "message");
        sent.wait();
        if (i % 50 == 0)
            require_equal(allreduce(own, 1, std::plus<>{}), own.size(), "sum");
    }
}

void many_in_turn(party &p) { in_turn(p, 200); }

void too_many(party &p) {
    if (p.size > 2) // two ranks show it
        return;
    const auto members = everyone(p);
    std::vector<endpoint> all;
    bool refused = false;
    while (!refused) {
        require(all.size() < 2048, "a limit");
        try {
            all.push_back(p.world.subset(members));
        } catch (const std::length_error &) {
            refused = true;
        }
    }
    require(all.size() > 2000, "some 2,000");
    circulate(all.front(), false);
    circulate(all.back(), false);
    all.clear();
    endpoint again = p.world.subset(members);
    circulate(again, false);
}

void wrong_lists(party &p) {
    const int twice[] = {p.rank, p.rank}, none[] = {p.size}, other[] = {p.next()};
    require_throw<std::invalid_argument>([&] { p.world.subset(twice); });
    require_throw<std::out_of_range>([&] { p.world.subset(none); });
    require_throw<std::invalid_argument>([&] { p.world.subset({}); });
    if (p.size > 1)
        require_throw<std::invalid_argument>([&] { p.world.subset(other); });
    require_throw<std::out_of_range>([&] { p.world.subset(everyone(p), 0, {.device = 1000}); });
    require_throw<std::invalid_argument>(
        [&] { p.world.subset(everyone(p), 0, {.delivery = delivery::handler}); });
    require_throw<std::invalid_argument>([&] { endpoint().subset(everyone(p)); });
    endpoint own = p.world.subset(everyone(p));
    circulate(own, false);
}

// Handlers and queues see the endpoint's numbers too.
void deliveries_by_number(party &p) {
    const auto members = backwards(p, 1, 0);
    for (const delivery how : {delivery::handler, delivery::task}) {
        std::atomic<int> from{-1};
        endpoint own = p.world.subset(
            members, 1,
            {.delivery = how, .handler = [&](const status &envelope, auto) { from = envelope.source; }});
        own.send(1, (own.rank() + 1) % own.size(), 1);
        while (from < 0)
            this_task::yield();
        require_equal(from.load(), (own.rank() + own.size() - 1) % own.size(), "source");
        barrier(own);
    }
    endpoint queue = p.world.subset(members, 1, {.delivery = delivery::queued});
    for (const std::size_t size : {std::size_t{8}, std::size_t{100'000}}) {
        const auto bytes = bytes_of(1, size);
        request sent = queue.isend(bytes, (queue.rank() + 1) % queue.size(), 1);
        std::optional<message> got;
        while (!(got = queue.dequeue()))
            this_task::yield();
        require_status(got->envelope, (queue.rank() + queue.size() - 1) % queue.size(), 1, size);
        sent.wait();
    }
    barrier(queue);
}

void remote_memory(party &p) {
    const auto members = backwards(p, 2, p.rank % 2);
    endpoint own = p.world.subset(members, 4);
    const int to = (own.rank() + 1) % own.size(), from = (own.rank() + own.size() - 1) % own.size();
    std::vector<int> memory(1000, -1);
    region mine(own, memory);
    std::vector<remote_region> all(static_cast<std::size_t>(own.size()));
    allgather(own, mine.remote(), all);
    require_equal(mine.remote().rank, p.rank, "number in the job");
    const std::vector<int> values(1000, own.rank());
    put_signal(own, values, all[static_cast<std::size_t>(to)], 0, 8);
    require_status(own.recv(nullptr, 0, from, 8), from, 8, 0);
    require(std::all_of(memory.begin(), memory.end(), [&](int each) { return each == from; }), "values");
    barrier(own);
    for (int rank = 0; rank < p.size; ++rank)
        if (!contains(members, rank)) {
            remote_region foreign = all[0];
            foreign.rank = rank;
            require_throw<std::out_of_range>([&] { put(own, values, foreign); });
        }
}

constexpr conformance_case all_subset_cases[] = {
    {"some_ranks", some_ranks},
    {"one_of_a_subset", one_of_a_subset},
    {"many_subsets_at_once", many_at_once},
    {"many_subsets_in_turn", many_in_turn},
    {"too_many_subsets", too_many},
    {"wrong_lists", wrong_lists},
    {"subset_deliveries", deliveries_by_number},
    {"subset_memory", remote_memory},
};

} // namespace

std::span<const conformance_case> subset_cases() { return all_subset_cases; }
void subsets_in_turn(party &p, int rounds) { in_turn(p, rounds); }

} // namespace fult::comm::testing
