// The conformance cases as a program that a launcher starts: comm_conformance [CASE ...]. Rank 0 prints a
// line per case; the exit status is 1 if one failed. `list` prints their names. These cases are not listed,
// since they end with a failure or take long:
//   killed              the last rank kills itself while the others wait for it
//   departs             the last rank ends its context while the others still use it
//   late N              the last rank ends its context N seconds after the others
//   never_received      rank 0 receives nothing until its senders have stopped
//   attacked N          until each of two ranks has refused at least N packets of strangers
//   soak N              N messages of each tag between all ranks
//   subsets N           makes N endpoints, one after the other
//   soak_with_a_loss N  the same, but the last rank kills itself during the exchange
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "tests/comm/conformance/departure.hpp"
#include "tests/comm/conformance/party.hpp"
#include "tests/comm/conformance/soak.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

// All tests use the last device.
unsigned tested_device() { return comm::read_options().devices - 1; }

template <class F> void expect_peer_failed(const char *what, F call) {
    try {
        call();
    } catch (const error &e) {
        require(e.code() == errc::peer_failed, std::string(what) + ": " + e.what());
        return;
    }
    require(false, std::string(what) + ": no error");
}

// Endpoints of some ranks: only those that the dying rank is a member of are affected.
struct subsets_of_killed {
    std::vector<int> rest, backwards;
    endpoint survivors, all, first_and_last;

    subsets_of_killed(endpoint &world, int last, unsigned device) {
        for (int rank = 0; rank < last; ++rank)
            rest.push_back(rank);
        for (int rank = last; rank >= 0; --rank)
            backwards.push_back(rank);
        all = world.subset(backwards, 1, {.device = device, .wildcards = true});
        if (world.rank() != last)
            survivors = world.subset(rest, 2, {.device = device});
        const int two[] = {0, last};
        if (world.rank() == 0 || world.rank() == last)
            first_and_last = world.subset(two, 3, {.device = device, .wildcards = true});
    }

    void check(endpoint &world, int last) {
        require_equal(allreduce(survivors, 1, std::plus<>{}), last, "sum of those that are left");
        expect_peer_failed("allreduce", [&] { allreduce(all, 1, std::plus<>{}); });
        expect_peer_failed("subset", [&] { world.subset(backwards, 4); });
        endpoint again = survivors.subset(rest, 5);
        require_equal(allreduce(again, 1, std::plus<>{}), last, "sum of those that are left");
        try {
            all.recv<int>(0, 1);
        } catch (const error &e) {
            const std::string both = "rank 0 (rank " + std::to_string(last) + " of the job)";
            require(std::string(e.what()).find(both) != std::string::npos, e.what());
        }
        if (world.rank() == 0)
            expect_peer_failed("recv from any", [&] { first_and_last.recv<int>(any_source, any_tag); });
    }
};

// Each kind of call that waits for the dying rank, and each that starts later.
void killed(context &net) {
    endpoint world = net.make_endpoint({.device = tested_device()});
    endpoint open = net.make_endpoint({.device = tested_device(), .wildcards = true});
    const int last = net.size() - 1;
    subsets_of_killed some(world, last, tested_device());
    std::vector<std::byte> memory(200'000);
    region own(world, memory);
    std::vector<remote_region> regions(static_cast<std::size_t>(net.size()));
    allgather(world, own.remote(), regions);
    comm::barrier(net.world());
    if (net.rank() == last) {
        for (int to = 0; to < last; ++to)
            world.recv<int>(to, 9); // then they wait, and more of them do a little later
        std::this_thread::sleep_for(std::chrono::milliseconds(50)); // time: either order is right
        std::raise(SIGKILL);
    }
    std::vector<std::byte> large(200'000), in(200'000);
    std::atomic<int> failed{0};
    std::vector<handle<void>> tasks;
    const auto waits = [&](auto call) {
        tasks.push_back(spawn([&failed, call] {
            expect_peer_failed("waiting", call);
            ++failed;
        }));
    };
    waits([&] { world.recv(in, last, 1); });
    waits([&] { open.recv(in, last, any_tag); });
    waits([&] { world.send(large, last, 2); });
    waits([&] { world.irecv(in, last, 3).wait(); });
    waits([&] { world.probe(last, 4); });
    const remote_region there = regions.back();
    const auto waits_again = [&](auto call) { // each one ends, until the rank does
        waits([call] {
            for (;;)
                call();
        });
    };
    std::vector<std::byte> got(200'000);
    waits_again([&] { put(world, large, there); });
    waits_again([&] { get(world, got, there); });
    waits_again([&] { iput(world, large.data(), 8, there, 0).wait(); });
    world.send(1, last, 9);
    join_all(tasks);
    require_equal(failed.load(), 8, "calls that failed");
    require(net.has_failed(last), "known as failed");
    expect_peer_failed("send", [&] { world.send(large, last, 1); });
    expect_peer_failed("recv", [&] { world.recv(in, last, 1); });
    expect_peer_failed("get", [&] { get(world, got, there); });
    some.check(world, last);
    // The others continue.
    for (int other = 0; other < last; ++other)
        if (other != net.rank()) {
            request sent = world.isend(large, other, 5);
            require_equal(world.recv(in, other, 5).size, large.size(), "size");
            sent.wait();
        }
    if (net.rank() == 0)
        std::printf("killed: ok\n");
    std::fflush(stdout); // the launcher may end this rank as it leaves
}

void never_received(context &net) {
    endpoint &world = net.world();
    constexpr int messages = 3000, size = 8000;
    if (net.rank() != 0) {
        std::atomic<int> sent{0};
        handle<void> sender = spawn([&] {
            for (int i = 0; i < messages; ++i) {
                world.send(bytes_of(static_cast<unsigned>(i), size), 0, 1);
                ++sent;
            }
        });
        world.recv<int>(0, 2);
        const int was_at = sent;
        world.send(was_at, 0, 3);
        sender.join();
        comm::barrier(net.world());
        return;
    }
    // 100 kB of 24 MB are accepted from each. Senders notice that they must wait within 256 KiB. What lies
    // between, sockets and packets, is less than half of the messages.
    const auto now = &std::chrono::steady_clock::now; // time: either order is right
    // time: either order is right
    for (const auto until = now() + std::chrono::milliseconds(300); now() < until;)
        this_task::yield();
    for (int from = 1; from < net.size(); ++from)
        world.send(0, from, 2);
    for (int from = 1; from < net.size(); ++from)
        require(world.recv<int>(from, 3) < messages / 2, "a sender was not slowed");
    std::vector<std::byte> in(size);
    for (int i = 0; i < messages; ++i)
        for (int from = 1; from < net.size(); ++from) {
            world.recv(in, from, 1);
            require(are_bytes_of(static_cast<unsigned>(i), in), "bytes of " + std::to_string(i));
        }
    comm::barrier(net.world());
    std::printf("never_received: ok\n");
}

// Two ranks exchange messages until each has refused this many packets of strangers, which know where an
// accepted message would go.
void attacked(context &net, std::uint64_t strange) {
    struct word {
        std::uint64_t round;
        std::uint64_t refused;
    };
    const int other = 1 - net.rank();
    for (word out{0, 0}, in{0, 0}; out.refused < strange || in.refused < strange; ++out.round) {
        out.refused = net.refused_packets();
        const status got = net.world().sendrecv(&out, sizeof out, other, 1, &in, sizeof in, other, 1);
        require(got.size == sizeof in && in.round == out.round,
                "round " + std::to_string(out.round) + ": " + std::to_string(in.round));
    }
    comm::barrier(net.world());
    std::printf("attacked: ok\n");
}

// The last rank ends by a signal, with the network's libraries loaded; the others are ended by the
// launcher.
void crash(context &net, int signal) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (net.rank() == net.size() - 1) {
        volatile int *volatile nowhere = nullptr;
        if (signal == SIGSEGV)
            *nowhere = 1;
        std::raise(signal);
    }
    for (;;)
        ::pause();
}

bool wanted(int argc, char **argv, std::string_view name) {
    for (int i = 1; i < argc; ++i)
        if (name == argv[i])
            return true;
    return argc == 1;
}

} // namespace

int main(int argc, char **argv) {
    if (argc == 2 && argv[1] == std::string_view("list")) {
        for (const conformance_case &each : conformance_cases())
            std::printf("%s\n", each.name);
        return 0;
    }
    const runtime running;
    context net;
    try {
        if (argc == 2 && argv[1] == std::string_view("killed")) {
            killed(net);
            return 0;
        }
        if (argc == 2 && argv[1] == std::string_view("leave"))
            std::_Exit(0);
        if (argc == 3 && argv[1] == std::string_view("crash")) {
            crash(net, std::atoi(argv[2]));
            return 0;
        }
        if (argc == 3 && argv[1] == std::string_view("late")) {
            if (net.rank() == net.size() - 1)
                std::this_thread::sleep_for(std::chrono::seconds(std::atoi(argv[2]))); // time: a lower bound
            return 0;
        }
        if (argc == 2 && argv[1] == std::string_view("never_received")) {
            never_received(net);
            return 0;
        }
        if (argc == 3 && argv[1] == std::string_view("attacked")) {
            attacked(net, static_cast<std::uint64_t>(std::atoi(argv[2])));
            return 0;
        }
        if (argc == 3 && argv[1] == std::string_view("soak")) {
            soak(net, std::atoi(argv[2]));
            return 0;
        }
        if (argc == 3 && argv[1] == std::string_view("soak_with_a_loss")) {
            soak_with_a_loss(net, std::atoi(argv[2]));
            return 0;
        }
        const unsigned last = tested_device();
        endpoint other = last == 0 ? endpoint() : net.make_endpoint({.device = last});
        party p{net.rank(), net.size(), last == 0 ? net.world() : other,
                [&](endpoint_options how) {
                    how.device = last;
                    return net.make_endpoint(std::move(how));
                },
                [&] { comm::barrier(net.world()); }};
        if (net.rank() == 0)
            std::printf("%d ranks by %s over %s\n", net.size(), net.launcher(), net.route_to(p.next()));
        if (argc == 2 && argv[1] == std::string_view("departs")) {
            the_last_rank_leaves(p, last == 0);
            if (net.rank() == 0)
                std::printf("departs: ok\n");
            return 0;
        }
        if (argc == 3 && argv[1] == std::string_view("subsets")) {
            subsets_in_turn(p, std::atoi(argv[2]));
            comm::barrier(net.world());
            if (net.rank() == 0)
                std::printf("subsets: ok\n");
            return 0;
        }
        for (const conformance_case &each : conformance_cases()) {
            if (!wanted(argc, argv, each.name))
                continue;
            const auto now = &std::chrono::steady_clock::now; // time: measured, not judged
            const auto begin = now();
            each.run(p);
            comm::barrier(net.world());
            const std::chrono::duration<double> seconds = now() - begin;
            if (net.rank() == 0)
                std::printf("%s: ok (%.3f s)\n", each.name, seconds.count());
            std::fflush(stdout);
        }
    } catch (const std::exception &e) {
        std::fprintf(stderr, "rank %d of %d: %s\n", net.rank(), net.size(), e.what());
        net.abort(1, e.what());
    }
    return 0;
}
