// 100,000 tasks on each of two ranks, each with a partner on the other rank. All of them block in recv; each
// message wakes one of them. fult-run -n 2 example_ranks_pairs [pairs]
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fult/comm.hpp>

int main(int count, char **arguments) {
    const auto pairs = static_cast<std::uint32_t>(count > 1 ? std::atoi(arguments[1]) : 100'000);
    fult::runtime runtime;
    fult::comm::context ranks;
    fult::comm::endpoint &world = ranks.world();
    if (ranks.size() > 2 || ranks.rank() >= 2)
        return 2;
    const int other = ranks.size() - 1 - ranks.rank(); // itself if there is only one rank

    std::atomic<std::uint32_t> right{0};
    std::vector<fult::handle<void>> tasks;
    for (std::uint32_t pair = 0; pair < pairs; ++pair)
        tasks.push_back(fult::spawn([&, pair] {
            if (ranks.rank() == 0) // the tag identifies the pair
                world.send(pair, other, pair);
            const auto ball = world.recv<std::uint32_t>(other, pair);
            if (ranks.rank() != 0)
                world.send(ball, other, pair);
            right += ball == pair;
        }));
    fult::join_all(tasks);
    if (ranks.rank() == 0)
        std::printf("%u pairs of tasks on %d ranks, %u answers right\n", pairs, ranks.size(), right.load());
    return right == pairs ? 0 : 1;
}
