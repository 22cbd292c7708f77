// Two ranks over verbs, started by a launcher: comm_verbs_pair counts | until_lost | waits_until_lost | ping
// N
//   counts      the number of work requests of each kind of message is what docs/verbs.md says
//   until_lost  messages back and forth, until the connection is cut by the caller: a bounded time after
//   that, an error
//   waits_until_lost  the same for ranks that only wait
//   ping N      N round trips of 64 bytes between tasks that block
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fult/fult.hpp>
#include <fult/sync/event.hpp>

#include "comm/job/job.hpp"
#include "comm/verbs/verbs.hpp"
#include "tests/comm/conformance/party.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;
using fult::comm::detail::verbs_counts;

using clock_type = std::chrono::steady_clock;

// This rank's counters, and what has been added to them since the last look.
class counted {
  public:
    explicit counted(comm::detail::job &of) : job_(of) { since(); }
    verbs_counts since() {
        const verbs_counts *now = comm::detail::counts_of(*job_.first_device->route(1 - job_.boot->rank()));
        require(now != nullptr, "the ranks are not connected by verbs");
        verbs_counts added = *now;
        added.sends -= last_.sends;
        added.inlined -= last_.inlined;
        added.reads -= last_.reads;
        added.writes -= last_.writes;
        added.unsignaled -= last_.unsignaled;
        added.completions -= last_.completions;
        added.polls -= last_.polls;
        last_ = *now;
        return added;
    }

  private:
    comm::detail::job &job_;
    verbs_counts last_;
};

constexpr unsigned times = 100;

// Without a message. The launcher's barrier blocks its thread, and this rank has to answer the other one
// meanwhile.
void meet(comm::detail::job &all) {
    event met;
    std::thread caller([&] {
        all.boot->barrier();
        met.set();
    });
    met.wait();
    caller.join();
}

// Runs `act` on both ranks, with nothing else under way, and prints what that has cost this rank.
template <class Act> verbs_counts cost(comm::detail::job &all, counted &books, const char *what, Act act) {
    meet(all);
    books.since();
    meet(all); // both count from here
    for (unsigned i = 0; i < times; ++i)
        act();
    meet(all);
    const verbs_counts c = books.since();
    std::printf("rank %d: %u %s: %lu sends, %lu of them inline, %lu reads, %lu writes, %lu unsignaled, %lu "
                "completions, %lu polls\n",
                all.boot->rank(), times, what, c.sends, c.inlined, c.reads, c.writes, c.unsignaled,
                c.completions, c.polls);
    meet(all);
    return c;
}

void expect_requests(const verbs_counts &c, std::uint64_t sends, std::uint64_t reads, std::uint64_t writes) {
    require_equal(c.sends, sends, "sends");
    require_equal(c.reads, reads, "reads");
    require_equal(c.writes, writes, "writes");
}

void count_messages(comm::detail::job &all) {
    const int rank = all.boot->rank(), other = 1 - rank;
    endpoint &world = all.world;
    std::vector<std::byte> small(64), packet(2000), large(200'000);
    const auto one_way = [&](std::vector<std::byte> &bytes) {
        if (rank == 0)
            world.send(bytes, other, 1);
        else
            world.recv(bytes, other, 1);
    };
    const auto back_and_forth =
        [&](std::vector<std::byte> &bytes) { // each rank polls between two of its messages
            if (rank == 0)
                world.send(bytes, other, 1);
            world.recv(bytes, other, 1);
            if (rank == 1)
                world.send(bytes, other, 1);
        };
    region own(world, large);
    world.send(own.remote(), other, 2);
    const remote_region theirs = world.recv<remote_region>(other, 2);
    one_way(large); // everything is connected, and registered
    all.barrier();
    counted books(all);
    verbs_counts c = cost(all, books, "messages of 64 bytes", [&] { back_and_forth(small); });
    expect_requests(c, times, 0, 0);
    require_equal(c.inlined, std::uint64_t{times}, "inline sends");
    require(c.unsignaled >= times - times / 16, "most sends have no completion");
    require(c.completions >= times, "each message has one at its receiver");
    c = cost(all, books, "messages of 2,000 bytes", [&] { back_and_forth(packet); });
    expect_requests(c, times, 0, 0);
    require_equal(c.inlined, std::uint64_t{0}, "inline sends");
    c = cost(all, books, "messages of 200,000 bytes", [&] { one_way(large); });
    expect_requests(c, times, rank == 0 ? 0 : times, 0); // RTS; the read and FIN
    const auto put_one = [&] {
        if (rank == 0)
            put(world, small, theirs);
    };
    c = cost(all, books, "puts of 64 bytes", put_one);
    expect_requests(c, times, 0, 0); // the put, with its bytes; the answer
    const auto put_much = [&] {
        if (rank == 0)
            put(world, large, theirs);
    };
    c = cost(all, books, "puts of 200,000 bytes", put_much);
    expect_requests(c, times, rank == 0 ? 0 : times, 0); // the request; the read and the answer
    const auto get_much = [&] {
        if (rank == 0)
            get(world, large, theirs);
    };
    c = cost(all, books, "gets of 200,000 bytes", get_much);
    expect_requests(c, times, 0, rank == 0 ? 0 : times); // the request; the write and the answer
    own = region();
    all.barrier();
    std::printf("counts: ok\n");
}

void until_lost(context &net) {
    const int other = 1 - net.rank();
    std::uint64_t round = 0;
    auto last = clock_type::now(); // time: measured, not judged
    try {
        for (;; ++round) {
            std::uint64_t in = 0;
            net.world().sendrecv(&round, sizeof round, other, 1, &in, sizeof in, other, 1);
            last = clock_type::now(); // time: measured, not judged
            if (round == 10 && net.rank() == 0) {
                std::printf("under way\n");
                std::fflush(stdout);
            }
        }
    } catch (const error &e) {
        // time: measured, not judged
        const std::chrono::duration<double> silence = clock_type::now() - last;
        require(e.code() == errc::peer_failed, e.what());
        std::printf("lost: ok after %lu rounds, %.1f s after the last message\n", round, silence.count());
        std::fflush(stdout); // the caller looks for it while this rank still waits for the other one to end
    }
}

// Nothing is sent but signs of life.
void wait_until_lost(context &net) {
    const int other = 1 - net.rank();
    comm::barrier(net.world());
    std::printf("under way\n");
    std::fflush(stdout);
    const auto begin = clock_type::now(); // time: measured, not judged
    try {
        net.world().recv<int>(other, 1);
        require(false, "a message that was never sent");
    } catch (const error &e) {
        // time: measured, not judged
        const std::chrono::duration<double> silence = clock_type::now() - begin;
        require(e.code() == errc::peer_failed, e.what());
        std::printf("lost: ok %.1f s after the last message\n", silence.count());
    }
}

void ping(context &net, int rounds) {
    const int other = 1 - net.rank();
    std::vector<std::byte> bytes(64);
    const auto exchange = [&] {
        if (net.rank() == 0)
            net.world().send(bytes, other, 1);
        net.world().recv(bytes, other, 1);
        if (net.rank() == 1)
            net.world().send(bytes, other, 1);
    };
    for (int i = 0; i < 20; ++i)
        exchange();
    const auto begin = clock_type::now(); // time: measured, not judged
    for (int i = 0; i < rounds; ++i)
        exchange();
    // time: measured, not judged
    const std::chrono::duration<double, std::micro> time = clock_type::now() - begin;
    if (net.rank() == 0)
        std::printf("ping: %.2f usec/iter over %s\n", time.count() / rounds, net.route_to(other));
}

} // namespace

int main(int argc, char **argv) {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    const runtime running;
    try {
        if (mode == "counts") {
            comm::options wanted = comm::read_options();
            wanted.gather = false;
            wanted.heartbeat = 3600; // no signs of life: each send that is counted is a message's
            auto begun = std::make_unique<comm::detail::foreign_threads>();
            auto boot = comm::detail::connect_bootstrap(
                std::chrono::seconds(wanted.timeout)); // time: given, never reached
            comm::detail::job all(wanted, std::move(boot), std::move(begun));
            count_messages(all);
            return 0;
        }
        context net;
        if (mode == "until_lost") {
            until_lost(net);
            return 0;
        }
        if (mode == "waits_until_lost") {
            wait_until_lost(net);
            return 0;
        }
        if (mode == "ping" && argc == 3) {
            ping(net, std::atoi(argv[2]));
            return 0;
        }
        std::fprintf(stderr, "usage: comm_verbs_pair counts | until_lost | waits_until_lost | ping N\n");
        return 2;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "comm_verbs_pair: %s\n", e.what());
        std::_Exit(1); // the other rank may wait for this one
    }
}
