// The messages of ./demo between two ranks: a ping-pong between two tasks, then 100,000 pairs of tasks that
// exchange messages at once. Checks every answer; rank 0 prints a row for each. fult-run -n 2 demo-ranks
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include <fult/comm.hpp>

#include "common/clock.hpp"

namespace {

namespace comm = fult::comm;

std::uint64_t question(std::uint32_t pair, std::uint32_t round) { return std::uint64_t{pair} << 32 | round; }
std::uint64_t answer_to(std::uint64_t asked) { return asked * 0x9e3779b97f4a7c15u + 1; }

// One task of a rank: rank 0 asks, rank 1 answers. Returns the number of wrong answers.
std::uint64_t talk(comm::endpoint &world, std::uint32_t pair, std::uint32_t rounds) {
    const int other = 1 - world.rank();
    std::uint64_t wrong = 0;
    for (std::uint32_t i = 0; i < rounds; ++i) {
        if (world.rank() == 0) {
            world.send(question(pair, i), other, pair);
            wrong += world.recv<std::uint64_t>(other, pair) != answer_to(question(pair, i));
        } else {
            const auto asked = world.recv<std::uint64_t>(other, pair);
            wrong += asked != question(pair, i);
            world.send(answer_to(asked), other, pair);
        }
    }
    return wrong;
}

// Returns true if all answers were correct on both ranks. Each round of a pair has two messages.
bool row(comm::context &ranks, const char *what, std::uint32_t pairs, std::uint32_t rounds) {
    std::atomic<std::uint64_t> wrong{0};
    comm::barrier(ranks.world());
    const double seconds = bench::timed([&] {
        std::vector<fult::handle<void>> tasks;
        for (std::uint32_t pair = 0; pair < pairs; ++pair)
            tasks.push_back(fult::spawn([&, pair] { wrong += talk(ranks.world(), pair, rounds); }));
        fult::join_all(tasks);
        comm::barrier(ranks.world());
    });
    const auto all_wrong = comm::allreduce(ranks.world(), wrong.load(), std::plus<>{});
    const double messages = 2.0 * pairs * rounds;
    if (ranks.rank() == 0)
        std::printf("%-28s %9u %10.0f %9.3f %9.2f   %s\n", what, pairs, messages, seconds,
                    messages / seconds / 1e6, all_wrong == 0 ? "ok" : "WRONG");
    return all_wrong == 0;
}

} // namespace

int main() {
    try {
        fult::runtime runtime;
        comm::context ranks;
        if (ranks.size() != 2) {
            std::fprintf(stderr, "demo-ranks: needs two ranks; start it with fult-run -n 2\n");
            return 2;
        }
        if (ranks.rank() == 0)
            std::printf("%-28s %9s %10s %9s %9s\n", "two ranks", "tasks", "messages", "seconds", "Mmsg/s");
        bool right = row(ranks, "ping-pong of 8 bytes", 1, 200'000);
        right = row(ranks, "pairs of tasks at once", 100'000, 4) && right;
        return right ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "demo-ranks: %s\n", error.what());
        return 1;
    }
}
