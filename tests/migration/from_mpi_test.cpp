// docs/from-mpi.md, row by row: the column in C++. As one rank, or as several that a launcher started.
#include <algorithm>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <vector>

#include <fult/comm.hpp>

#include "tests/support/support.hpp"

namespace {

// What each row but the first has: its rank, and neighbours in a circle.
struct job {
    fult::runtime runtime{fult::testing::workers(1)};
    fult::comm::context net;
    fult::comm::endpoint &world = net.world();
    const int rank = net.rank();
    const int to = (net.rank() + 1) % net.size(), from = (net.rank() + net.size() - 1) % net.size();
    const std::size_t ranks = static_cast<std::size_t>(net.size());
};

TEST(FromMpi, init) {
    fult::runtime runtime;
    fult::comm::context net;
    EXPECT_GE(net.size(), 1);
}

TEST(FromMpi, init_thread) {
    job j;
    auto &world = j.world;
    const int number = 5, to = j.to;
    auto task = fult::spawn([&] { world.send(number, to, 7); });
    EXPECT_EQ(world.recv<int>(j.from, 7), 5);
    task.join();
}

TEST(FromMpi, finalize) {
    {
        fult::runtime runtime;
        fult::comm::context net;
    } // the context ends here, then the runtime
    EXPECT_EQ(fult::worker_count(), 0);
}

TEST(FromMpi, abort) {
    if (std::getenv("FULT_RUN_FD"))
        GTEST_SKIP() << "it would end all ranks";
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            job j;
            auto &net = j.net;
            net.abort(3, "the reason");
        },
        ::testing::ExitedWithCode(3), "the reason");
}

TEST(FromMpi, comm_rank) {
    job j;
    auto &net = j.net;
    int rank = net.rank();
    EXPECT_EQ(rank, j.rank);
}

TEST(FromMpi, comm_size) {
    job j;
    auto &net = j.net;
    int size = net.size();
    EXPECT_GE(size, 1);
}

TEST(FromMpi, comm_dup) {
    job j;
    auto &net = j.net;
    fult::comm::endpoint apart = net.make_endpoint();
    apart.send(1, j.to, 7);
    EXPECT_FALSE(j.world.try_probe(j.from, 7));
    EXPECT_EQ(apart.recv<int>(j.from, 7), 1);
}

TEST(FromMpi, comm_free) {
    job j;
    fult::comm::endpoint apart = j.net.make_endpoint();
    apart = fult::comm::endpoint();
    EXPECT_EQ(apart.size(), 0);
}

TEST(FromMpi, send) {
    job j;
    auto &world = j.world;
    const int number = 42, to = j.to;
    world.send(number, to, 7);
    EXPECT_EQ(world.recv<int>(j.from, 7), 42);
}

TEST(FromMpi, send_many) {
    job j;
    auto &world = j.world;
    const int to = j.to;
    const std::vector<double> values{1.5, 2.5};
    world.send(values, to, 7);
    std::vector<double> in(2);
    world.recv(in, j.from, 7);
    EXPECT_EQ(in, values);
}

TEST(FromMpi, send_struct) {
    job j;
    auto &world = j.world;
    const int to = j.to;
    struct body {
        double x, v;
        int kind;
    };
    const body particle{1, 2, 3};
    world.send(particle, to, 7);
    EXPECT_EQ(world.recv<body>(j.from, 7).kind, 3);
}

TEST(FromMpi, send_pieces) {
    job j;
    auto &world = j.world;
    const int to = j.to, a = 1, b = 2;
    const fult::comm::const_buffer pieces[] = {{&a, sizeof a}, {&b, sizeof b}};
    world.send(pieces, to, 7);
    int in[2];
    world.recv(in, j.from, 7);
    EXPECT_EQ(in[1], 2);
}

TEST(FromMpi, recv_pieces) {
    job j;
    auto &world = j.world;
    const int out[] = {1, 2}, from = j.from;
    world.send(out, j.to, 7);
    int a = 0, b = 0;
    const fult::comm::mutable_buffer rooms[] = {{&a, sizeof a}, {&b, sizeof b}};
    world.recv(rooms, from, 7);
    EXPECT_EQ(a + 10 * b, 21);
}

TEST(FromMpi, bsend) {
    job j;
    auto &world = j.world;
    const int number = 6, to = j.to;
    while (!world.enqueue(&number, sizeof number, to, 7))
        fult::this_task::yield();
    EXPECT_EQ(world.recv<int>(j.from, 7), 6);
}

TEST(FromMpi, recv) {
    job j;
    auto &world = j.world;
    const int from = j.from;
    world.send(8, j.to, 7);
    int number = world.recv<int>(from, 7);
    EXPECT_EQ(number, 8);
}

TEST(FromMpi, recv_status) {
    job j;
    auto &world = j.world;
    const int from = j.from;
    std::vector<double> values(3);
    world.send(values, j.to, 7);
    values.resize(10);
    const fult::comm::status got = world.recv(values, from, 7);
    std::size_t count = got.size / sizeof(double);
    EXPECT_EQ(count, 3u);
    EXPECT_EQ(got.source, from);
    EXPECT_EQ(got.tag, 7u);
}

TEST(FromMpi, recv_any) {
    job j;
    auto &net = j.net;
    auto open = net.make_endpoint({.wildcards = true});
    open.send(4, j.to, 9);
    int number = 0;
    EXPECT_EQ(open.recv(number, fult::comm::any_source, fult::comm::any_tag).source, j.from);
    EXPECT_EQ(number, 4);
}

TEST(FromMpi, sendrecv) {
    job j;
    auto &world = j.world;
    const int to = j.to, from = j.from, out = j.rank;
    int in = -1;
    world.sendrecv(&out, sizeof out, to, 7, &in, sizeof in, from, 7);
    EXPECT_EQ(in, from);
}

TEST(FromMpi, isend) {
    job j;
    auto &world = j.world;
    const int to = j.to;
    const std::vector<double> values{1, 2, 3};
    fult::comm::request request = world.isend(values, to, 7);
    std::vector<double> in(3);
    world.recv(in, j.from, 7);
    request.wait();
    EXPECT_EQ(in, values);
}

TEST(FromMpi, irecv) {
    job j;
    auto &world = j.world;
    const int from = j.from;
    std::vector<double> values(2);
    fult::comm::request request = world.irecv(values, from, 7);
    world.send(std::vector<double>{4, 5}, j.to, 7);
    request.wait();
    EXPECT_EQ(values[1], 5);
}

TEST(FromMpi, wait) {
    job j;
    int in = 0;
    fult::comm::request request = j.world.irecv(&in, sizeof in, j.from, 7);
    j.world.send(3, j.to, 7);
    const fult::comm::status got = request.wait();
    EXPECT_EQ(got.size, sizeof in);
    EXPECT_EQ(in, 3);
}

TEST(FromMpi, test) {
    job j;
    int in = 0;
    fult::comm::request request = j.world.irecv(&in, sizeof in, j.from, 7);
    j.world.send(3, j.to, 7);
    while (!request.test())
        fult::this_task::yield();
    EXPECT_EQ(in, 3);
}

TEST(FromMpi, waitall) {
    job j;
    int in[2] = {};
    std::vector<fult::comm::request> requests;
    for (int i = 0; i < 2; ++i)
        requests.push_back(j.world.irecv(&in[i], sizeof(int), j.from, i));
    for (std::uint32_t i = 0; i < 2; ++i)
        j.world.send(i, j.to, i);
    fult::comm::wait_all(requests);
    EXPECT_EQ(in[1], 1);
}

TEST(FromMpi, waitany) {
    job j;
    int in[2] = {};
    std::vector<fult::comm::request> requests;
    for (int i = 0; i < 2; ++i)
        requests.push_back(j.world.irecv(&in[i], sizeof(int), j.from, i));
    for (const std::uint32_t tag : {1, 0})
        j.world.send(9, j.to, tag);
    const std::size_t index = fult::comm::wait_any(requests);
    requests[index].wait();
    EXPECT_EQ(in[index], 9);
    requests[1 - index].wait();
    EXPECT_EQ(in[0] + in[1], 18);
}

TEST(FromMpi, cancel) {
    job j;
    int in = 0;
    fult::comm::request request = j.world.irecv(&in, sizeof in, j.from, 7);
    bool taken_back = false;
    if (request.cancel())
        taken_back = true;
    EXPECT_TRUE(taken_back);
    EXPECT_THROW(request.wait(), fult::comm::error);
}

TEST(FromMpi, probe) {
    job j;
    auto &world = j.world;
    const int from = j.from;
    world.send(std::string("five!"), j.to, 7);
    std::vector<char> text(world.probe(from, 7).size);
    world.recv(text, from, 7);
    EXPECT_EQ(std::string(text.begin(), text.end()), "five!");
}

TEST(FromMpi, iprobe) {
    job j;
    auto &world = j.world;
    const int from = j.from;
    EXPECT_FALSE(world.try_probe(from, 8));
    world.send(1, j.to, 7);
    while (!world.try_probe(from, 7))
        fult::this_task::yield();
    EXPECT_EQ(world.recv<int>(from, 7), 1);
}

// Two numbers of each rank, which all others know.
struct window {
    std::vector<int> memory{0, 0};
    std::vector<fult::comm::remote_region> all;
    fult::comm::region mine;
    explicit window(job &j) : all(j.ranks), mine(j.world, memory) {
        fult::comm::allgather(j.world, mine.remote(), all);
    }
};

TEST(FromMpi, win_create) {
    job j;
    auto &world = j.world;
    std::vector<int> memory(2);
    std::vector<fult::comm::remote_region> all(j.ranks);
    fult::comm::region mine(world, memory);
    fult::comm::allgather(world, mine.remote(), all);
    EXPECT_EQ(all.back().rank, j.net.size() - 1);
}

TEST(FromMpi, put) {
    job j;
    window w(j);
    auto &world = j.world;
    const auto &all = w.all;
    const std::vector<int> number{5};
    const auto to = static_cast<std::size_t>(j.to);
    fult::comm::put(world, number, all[to], 4);
    fult::comm::barrier(world);
    EXPECT_EQ(w.memory[1], 5);
}

TEST(FromMpi, get) {
    job j;
    window w(j);
    w.memory[1] = j.rank;
    auto &world = j.world;
    const auto &all = w.all;
    fult::comm::barrier(world);
    std::vector<int> number(1);
    const auto to = static_cast<std::size_t>(j.to);
    fult::comm::get(world, number, all[to], 4);
    EXPECT_EQ(number[0], j.to);
    fult::comm::barrier(world);
}

TEST(FromMpi, rput) {
    job j;
    window w(j);
    auto &world = j.world;
    const auto &all = w.all;
    const std::vector<int> number{5};
    const auto to = static_cast<std::size_t>(j.to);
    fult::comm::request request = fult::comm::iput(world, number, all[to], 4);
    request.wait();
    fult::comm::barrier(world);
    EXPECT_EQ(w.memory[1], 5);
}

TEST(FromMpi, put_notify) {
    job j;
    window w(j);
    auto &world = j.world;
    const auto &all = w.all;
    const std::vector<int> number{5};
    const auto to = static_cast<std::size_t>(j.to);
    const int from = j.from;
    fult::comm::put_signal(world, number, all[to], 4, 9);
    world.recv(nullptr, 0, from, 9);
    EXPECT_EQ(w.memory[1], 5);
    fult::comm::barrier(world);
}

TEST(FromMpi, barrier) {
    job j;
    auto &world = j.world;
    fult::comm::barrier(world);
    EXPECT_FALSE(world.try_probe(j.from, 0));
}

TEST(FromMpi, bcast) {
    job j;
    auto &world = j.world;
    std::vector<double> values(3, j.rank == 0 ? 2.5 : 0);
    fult::comm::broadcast(world, values, 0);
    EXPECT_EQ(values, std::vector<double>(3, 2.5));
}

TEST(FromMpi, reduce) {
    job j;
    auto &world = j.world;
    const std::vector<double> in(3, j.rank);
    std::vector<double> out(3, -1);
    fult::comm::reduce(
        world, in, out, [](double a, double b) { return std::max(a, b); }, 0);
    EXPECT_EQ(out[2], j.rank == 0 ? j.net.size() - 1 : -1);
}

TEST(FromMpi, allreduce) {
    job j;
    auto &world = j.world;
    const double mine = 0.5;
    double sum = fult::comm::allreduce(world, mine, std::plus<>{});
    EXPECT_EQ(sum, 0.5 * j.net.size());
}

TEST(FromMpi, in_place) {
    job j;
    auto &world = j.world;
    std::vector<double> values(3, 1);
    fult::comm::allreduce(world, values, values, std::plus<>{});
    EXPECT_EQ(values[0], j.net.size());
}

TEST(FromMpi, op_create) {
    job j;
    auto &world = j.world;
    struct complex {
        double x, y;
    };
    const std::vector<complex> in(2, {0, 1});
    std::vector<complex> out(2);
    fult::comm::allreduce(world, in, out, [](complex a, complex b) {
        return complex{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    });
    EXPECT_EQ(out[1].x * out[1].x + out[1].y * out[1].y, 1);
}

TEST(FromMpi, minloc) {
    job j;
    auto &world = j.world;
    struct place {
        double value;
        int rank;
    };
    const place mine{10.0 - j.rank, j.rank};
    const place least =
        fult::comm::allreduce(world, mine, [](place a, place b) { return b.value < a.value ? b : a; });
    EXPECT_EQ(least.rank, j.net.size() - 1);
}

TEST(FromMpi, gather) {
    job j;
    auto &world = j.world;
    const std::vector<int> mine(2, j.rank);
    std::vector<int> all(j.rank == 0 ? 2 * j.ranks : 0);
    fult::comm::gather(world, mine, all, 0);
    EXPECT_EQ(j.rank == 0 ? all.back() : j.net.size() - 1, j.net.size() - 1);
}

TEST(FromMpi, allgather) {
    job j;
    auto &world = j.world;
    const std::vector<int> mine(2, j.rank);
    std::vector<int> all(2 * j.ranks);
    fult::comm::allgather(world, mine, all);
    EXPECT_EQ(all.back(), j.net.size() - 1);
}

TEST(FromMpi, alltoall) {
    job j;
    auto &world = j.world;
    std::vector<int> out(j.ranks), in(j.ranks);
    std::iota(out.begin(), out.end(), 10 * j.rank);
    fult::comm::alltoall(world, out, in);
    EXPECT_EQ(in.back(), 10 * (j.net.size() - 1) + j.rank);
}

TEST(FromMpi, alltoallv) {
    job j;
    auto &world = j.world;
    const std::vector<std::size_t> out_counts(j.ranks, 3), in_counts(j.ranks, 3);
    const std::vector<int> out(3 * j.ranks, j.rank);
    std::vector<int> in(3 * j.ranks);
    fult::comm::alltoallv(world, out, out_counts, in, in_counts);
    EXPECT_EQ(in.back(), j.net.size() - 1);
}

TEST(FromMpi, scatter) {
    job j;
    auto &world = j.world;
    const int rank = j.rank;
    std::vector<int> all(rank == 0 ? 2 * j.ranks : 0), mine(2);
    std::iota(all.begin(), all.end(), 0);
    fult::comm::scatter(world, all, mine, 0);
    EXPECT_EQ(mine[1], 2 * rank + 1);
}

TEST(FromMpi, ibarrier) {
    job j;
    fult::comm::endpoint apart = j.net.make_endpoint();
    auto request = fult::spawn([&] { fult::comm::barrier(apart); });
    EXPECT_EQ(fult::comm::allreduce(j.world, 1, std::plus<>{}), j.net.size());
    request.join();
}

TEST(FromMpi, progress) {
    job j;
    auto &net = j.net;
    j.world.send(1, j.to, 7);
    while (!j.world.try_probe(j.from, 7))
        net.progress();
    EXPECT_EQ(j.world.recv<int>(j.from, 7), 1);
}

TEST(FromMpi, error_string) {
    job j;
    j.world.send(std::vector<double>(5), j.to, 7);
    std::string text;
    try {
        j.world.recv<int>(j.from, 7);
    } catch (const fult::comm::error &error) {
        text = error.what();
    }
    EXPECT_NE(text.find("40 bytes"), text.npos);
}

TEST(FromMpi, failed) {
    job j;
    auto &net = j.net;
    const int from = j.from;
    EXPECT_FALSE(net.has_failed(from));
}

TEST(FromMpi, wtime) {
    const auto start = std::chrono::steady_clock::now(); // time: a lower bound
    EXPECT_GE(std::chrono::steady_clock::now(), start);  // time: a lower bound
}

} // namespace
