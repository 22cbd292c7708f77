// The cases between processes: global_ranks [CASE]. Rank 0 prints a line per case; the exit status is 1 if
// one failed. Not among them: `random SEED COUNT`, so many random programs from a seed on; `killed`, where
// the last rank kills itself while the others access its heap; `forked`; and `missing`, where rank 0 has a
// function that the others do not have.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/global/cases.hpp"

namespace {

using namespace fult;
using namespace fult::global::testing;

// Calls until the rank, or its memory, has ended.
template <class F> void require_end(const char *what, comm::errc reason, F call) {
    try {
        for (;;)
            call();
    } catch (const comm::error &e) {
        require(e.code() == reason, std::string(what) + ": " + e.what());
    }
}

// Also with operations under way at the owner: as if no heap could be mapped.
void killed(party &p, bool maps) {
    const global::memory_options options{.heap = 1 << 20};
    auto owned = std::make_unique<global::memory>(p.world, options);
    global::memory &m = *owned;
    if (!maps)
        unmap_others(p, m);
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
            require_end(what, comm::errc::peer_failed, call);
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
    if (p.size > 2 && p.rank == 0)
        owned.reset(); // does not wait for the others: not all are there
    if (p.rank == 1)
        require_end("memory that has ended", comm::errc::refused, [&] { (void)m.get(all[0]); });
    comm::barrier(rest);
    if (p.rank == 0)
        std::printf("ok killed\n");
}

// A child must not access the heaps of its parent's job.
void forked(party &p) {
    global::memory m(p.world, {.heap = 4096});
    const global::global_vector<int> numbers(m, static_cast<std::size_t>(2 * p.size));
    for (const int other : {p.rank, p.next()}) {
        const auto there = numbers.pointer(static_cast<std::size_t>(2 * other));
        const pid_t child = fork();
        if (child == 0) {
            m.put(there, 7);
            _exit(0);
        }
        int status = 0;
        require(waitpid(child, &status, 0) == child && status != 0, "a put of a child ends it");
        require_equal(m.get(there), 0, "what a child has put");
    }
    m.barrier();
    if (p.rank == 0)
        std::printf("ok forked\n");
}

// From the seed on.
void random_programs(party &p, std::uint64_t seed, std::uint64_t count) {
    for (const std::uint64_t end = seed + count; seed != end; ++seed) {
        if (p.rank == 0) {
            std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
            std::fflush(stdout);
        }
        run_random_program(p, seed);
    }
    comm::barrier(p.world);
    if (p.rank == 0)
        std::printf("ok random\n");
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
        if (one == "killed" || one == "killed_unmapped") {
            killed(p, one == "killed");
            return 0;
        }
        if (one == "random" && count == 4) {
            random_programs(p, std::stoull(words[2]), std::stoull(words[3]));
            return 0;
        }
        if (one == "forked") {
            forked(p);
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
