// A number is passed around all ranks; each adds its own. fult-run -n 4 example_ranks_ring
#include <cstdio>

#include <fult/comm.hpp>

int main() {
    fult::runtime runtime;
    fult::comm::context ranks;
    fult::comm::endpoint &world = ranks.world();
    const int before = (ranks.rank() + ranks.size() - 1) % ranks.size(),
              after = (ranks.rank() + 1) % ranks.size();

    int sum = ranks.rank();
    if (ranks.rank() == 0) {
        world.send(sum, after, 0);
        sum = world.recv<int>(before, 0);
        std::printf("%d ranks, their numbers add up to %d\n", ranks.size(), sum);
    } else {
        sum += world.recv<int>(before, 0);
        world.send(sum, after, 0);
    }

    // The same as a collective operation.
    const int all = fult::comm::allreduce(world, ranks.rank(), std::plus<>{});
    return ranks.rank() != 0 || sum == all ? 0 : 1;
}
