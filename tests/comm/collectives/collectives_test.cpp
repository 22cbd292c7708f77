// Collectives between ranks of this process.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "tests/comm/collectives/cases.hpp"
#include "tests/comm/conformance/between_ranks.hpp"

namespace {

using namespace fult::comm;
using namespace fult::comm::testing;

struct collectives : between_ranks {};

TEST_P(collectives, as_one_process_would) { run(); }

std::vector<int> numbers_of_ranks() {
    if (fult::testing::sanitized)
        return {1, 2, 5};
    return {1, 2, 3, 4, 5, 7, 8};
}

INSTANTIATE_TEST_SUITE_P(ranks, collectives,
                         ::testing::Combine(::testing::ValuesIn(numbers_of_ranks()),
                                            ::testing::ValuesIn(collective_cases().begin(),
                                                                collective_cases().end())),
                         name_of);

// No rank leaves a barrier before all have arrived.
TEST(collectives_here, barrier_waits_for_all) {
    const fult::runtime running(as_many_workers_as_asked_for());
    for (const int ranks : {2, 3, 5, 8}) {
        world_settings settings;
        settings.ranks = ranks;
        std::atomic<int> come{0};
        run_ranks(settings, [&](party &p, world &) {
            for (int round = 1; round <= 40; ++round) {
                for (int i = (p.rank + round) % ranks * 3; i > 0; --i)
                    fult::this_task::yield();
                ++come;
                barrier(p.world);
                require(come >= round * ranks, "all have come");
            }
        });
    }
}

// The error text of a call that must fail.
template <class F> std::string failure_of(F call, int lost = 4) {
    try {
        call();
    } catch (const error &e) {
        const std::string text = e.what(), wanted = "rank " + std::to_string(lost) + " has ended";
        return e.code() == errc::peer_failed && text.find(wanted) != text.npos ? wanted : text;
    } catch (const std::exception &e) {
        return e.what();
    }
    return "nothing";
}

// The last rank has ended. The others get an error, whatever rank they wait for and whenever they detect it.
struct dead_rank : ::testing::TestWithParam<std::size_t> {};

TEST_P(dead_rank, ends_everybodys_calls) {
    const std::size_t count = GetParam();
    const fult::runtime running(as_many_workers_as_asked_for());
    world_settings settings;
    settings.ranks = 5;
    using action = void (*)(endpoint &, std::vector<double> &, std::vector<double> &);
    constexpr action actions[] = {
        [](endpoint &e, std::vector<double> &, std::vector<double> &) { barrier(e); },
        [](endpoint &e, std::vector<double> &in, std::vector<double> &) { broadcast(e, in, 4); },
        [](endpoint &e, std::vector<double> &in, std::vector<double> &) {
            allreduce(e, in, in, std::plus<>{});
        },
        [](endpoint &e, std::vector<double> &in, std::vector<double> &out) { allgather(e, in, out); },
        [](endpoint &e, std::vector<double> &, std::vector<double> &out) {
            auto in = out;
            alltoall(e, in, out);
        },
    };
    std::atomic<int> left[std::size(actions)] = {}, ended{0};
    std::atomic<bool> silent{false};
    run_ranks(settings, [&](party &p, world &all) {
        std::vector<endpoint> own;
        for (std::size_t i = 0; i < std::size(actions); ++i)
            own.push_back(p.make_endpoint({}));
        p.barrier();
        if (p.rank == 4) { // it lives, but neither sends nor receives any more
            silent = true;
            while (ended < 4)
                fult::this_task::yield();
            return;
        }
        std::vector<fult::handle<void>> tasks;
        for (std::size_t i = 0; i < std::size(actions); ++i)
            tasks.push_back(fult::spawn([&, i] {
                std::vector<double> in(count, 1.0), out(count * 5, 2.0);
                // Not thrown on: the other ranks would wait for this one.
                EXPECT_EQ(failure_of([&] { actions[i](own[i], in, out); }), "rank 4 has ended");
                ++left[i];
                EXPECT_EQ(failure_of([&] { actions[i](own[i], in, out); }), "rank 4 has ended");
                // One that would only send.
                EXPECT_EQ(failure_of([&] { gather(own[i], in, out, 0); }), "rank 4 has ended");
            }));
        // Rank 0 gets the error first; the others have not detected the loss yet.
        for (const auto &count_left : left)
            while (p.rank != 0 && count_left == 0)
                fult::this_task::yield();
        while (!silent)
            fult::this_task::yield();
        all.jobs[static_cast<std::size_t>(p.rank)]->first_device->fail_peer(4);
        fult::join_all(tasks);
        endpoint late = p.make_endpoint({});
        require_error(errc::peer_failed, [&] { barrier(late); });
        ++ended;
        while (ended < 4) // else others might see that this rank has left before they see the loss of rank 4
            fult::this_task::yield();
    });
}

INSTANTIATE_TEST_SUITE_P(sizes, dead_rank, ::testing::Values(1, 100'000));

// Delays the device that learns of a loss, so that a collective fails while the device still notifies others.
struct slow_completion final : completion {
    std::atomic<bool> called{false};
    void complete(const completion_event &) noexcept override {
        called = true;
        // A fixed time, not a condition: the collective can fail only after this returns.
        std::this_thread::sleep_for(std::chrono::milliseconds(100)); // time: either order is right
    }
};

// The first collective that fails is the last one of its endpoint, even if its rank has not yet dealt with
// all that the loss ends.
TEST(collectives_here, none_goes_well_after_a_loss) {
    const fult::runtime running(as_many_workers_as_asked_for());
    world_settings settings;
    settings.ranks = 3;
    constexpr int lost = 2;
    std::atomic<bool> over{false};
    std::atomic<int> waiting{0}; // ranks that have left the barrier: a lost rank would wait there for rank 0
    run_ranks(settings, [&](party &p, world &all) {
        endpoint own = p.make_endpoint({});
        p.barrier();
        if (p.rank != 0) {
            ++waiting;
            while (!over)
                fult::this_task::yield();
            return;
        }
        while (waiting < settings.ranks - 1)
            fult::this_task::yield();
        std::vector<std::byte> never_taken(1'000'000);
        slow_completion end;
        p.world.isend(never_taken.data(), never_taken.size(), lost, 1, end);
        std::thread failing([&] { all.jobs[0]->first_device->fail_peer(lost); });
        while (!end.called)
            fult::this_task::yield();
        std::vector<int> in(1), out;
        EXPECT_EQ(failure_of([&] { broadcast(own, in, lost); }, lost), "rank 2 has ended");
        EXPECT_EQ(failure_of([&] { gather(own, in, out, 1); }, lost),
                  "rank 2 has ended"); // sends to rank 1 alone
        failing.join();
        over = true;
    });
}

} // namespace
