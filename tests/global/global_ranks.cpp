// The cases between processes: global_ranks [CASE]. Rank 0 prints a line per case; the exit status is 1 if
// one failed. Not among them: `killed`, where the last rank kills itself while the others access its heap,
// and `missing`, where rank 0 has a function that the others do not have.
#include <csignal>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string_view>

#include "tests/global/cases.hpp"

namespace {

using namespace fult;
using namespace fult::global::testing;

template <class F> void require_peer_failed(const char *what, F call) {
    try {
        for (;;)
            call(); // until the rank has ended
    } catch (const comm::error &e) {
        require(e.code() == comm::errc::peer_failed, std::string(what) + ": " + e.what());
    }
}

void killed(party &p) {
    global::memory m(p.world, {.heap = 1 << 20});
    const auto all = all_pointers(p, m.allocate<std::uint64_t>(100'000));
    std::vector<int> survivors(static_cast<std::size_t>(p.size - 1));
    std::iota(survivors.begin(), survivors.end(), 0);
    comm::endpoint rest;
    if (p.rank != p.size - 1)
        rest = p.world.subset(survivors);
    const auto there = all.back();
    m.barrier();
    if (p.rank == p.size - 1) {
        for (int from = 0; from + 1 < p.size; ++from)
            p.world.recv<int>(from, 1); // their tasks have begun
        std::raise(SIGKILL);
    }
    std::atomic<int> ended{0};
    task_group tasks;
    const auto fails = [&](const char *what, auto call) {
        tasks.spawn([&ended, what, call] {
            require_peer_failed(what, call);
            ++ended;
        });
    };
    std::vector<std::uint64_t> many(100'000), more(100'000);
    const std::vector<global::global_ptr<std::uint64_t>> places(500, there);
    std::vector<std::uint64_t> gathered(places.size());
    fails("get", [&] { (void)m.get(there); });
    fails("put", [&] { m.put(there, 1); });
    fails("get of many", [&] { m.get(there, many); });
    fails("iput", [&] { m.iput(there, more).wait(); });
    fails("gather", [&] { m.gather(places, gathered); });
    fails("fetch_add", [&] { (void)m.fetch_add(there, 1); });
    fails("compare_exchange", [&] {
        std::uint64_t expected = 0;
        (void)m.compare_exchange(there, expected, 1);
    });
    fails("spawn_at", [&] { global::spawn_at(m, p.size - 1, [] {}).join(); });
    fails("barrier", [&] { m.barrier(); });
    p.world.send(1, p.size - 1, 1);
    tasks.wait();
    require_equal(ended.load(), 9, "calls that failed");
    require_equal(m.fetch_add(all[0], 0), m.get(all[0]), "the other heaps are there");
    comm::barrier(rest); // a barrier of all has failed
    if (p.rank == 0)
        std::printf("ok killed\n");
}

void missing(party &p) {
    global::memory m(p.world, {.heap = 4096});
    if (p.rank == 0) {
        const auto run = [](global::memory &, const std::byte *, std::byte *) {};
        const std::uint64_t id = global::detail::register_function({"of_rank_0_only", 0, 0, 0, run});
        global::detail::start_at(m, 0, id, nullptr, 0, 0).join(nullptr, 0);
        try {
            global::detail::start_at(m, p.size - 1, id, nullptr, 0, 0).join(nullptr, 0);
            require(false, "no error");
        } catch (const global::remote_error &e) {
            std::printf("ok missing: %s\n", e.what());
        }
    }
}

} // namespace

int main(int count, char **words) {
    const std::string_view one = count > 1 ? words[1] : "";
    const runtime running;
    comm::context net;
    party p{net.rank(), net.size(), net.world(),
            [&](comm::endpoint_options options) { return net.make_endpoint(std::move(options)); },
            [&] { comm::barrier(net.world()); }};
    try {
        if (one == "killed") {
            killed(p);
            return 0;
        }
        if (one == "missing") {
            missing(p);
            return 0;
        }
        for (const conformance_case &each : global_cases()) {
            if (!one.empty() && one != each.name)
                continue;
            each.run(p);
            comm::barrier(net.world());
            if (p.rank == 0)
                std::printf("ok %s\n", each.name);
        }
    } catch (const std::exception &e) {
        std::fprintf(stderr, "rank %d of %d: %s\n", p.rank, p.size, e.what());
        net.abort(1, "a case has failed");
    }
    return 0;
}
