// Heat flow along a rod that is distributed over the ranks. In each step a rank puts its border cells into
// its neighbours' memory; the signal of each put notifies the neighbour.
// fult-run -n 4 example_ranks_halo
#include <cstdio>
#include <vector>

#include <fult/comm.hpp>

constexpr int steps = 200;
constexpr std::size_t cells = 500; // per rank

// One step of the cells between two borders.
static void diffuse(const std::vector<double> &now, std::vector<double> &next, double left, double right) {
    for (std::size_t i = 0; i < now.size(); ++i)
        next[i] =
            0.5 * now[i] + 0.25 * ((i != 0 ? now[i - 1] : left) + (i + 1 != now.size() ? now[i + 1] : right));
}

int main() {
    fult::runtime runtime;
    fult::comm::context ranks;
    fult::comm::endpoint &world = ranks.world();
    const auto rank = static_cast<std::size_t>(ranks.rank()), count = static_cast<std::size_t>(ranks.size());

    // The cells that the neighbours put, from the left and from the right. Two of each, because a neighbour
    // may be one step ahead.
    struct borders {
        double from_left = 1, from_right = 0; // constant at the ends of the rod
    };
    borders halo[2];
    const fult::comm::region own(world, halo);
    std::vector<fult::comm::remote_region> others(count);
    fult::comm::allgather(world, own.remote(), others);

    std::vector<double> now(cells), next(cells);
    for (unsigned step = 0; step < steps; ++step) {
        const std::size_t place = step % 2 * sizeof(borders);
        fult::comm::request sent[2];
        if (rank != 0)
            sent[0] = iput_signal(world, &now.front(), sizeof(double), others[rank - 1],
                                  place + offsetof(borders, from_right), 1);
        if (rank + 1 != count)
            sent[1] = iput_signal(world, &now.back(), sizeof(double), others[rank + 1],
                                  place + offsetof(borders, from_left), 0);
        if (rank != 0)
            world.recv(nullptr, 0, ranks.rank() - 1, 0); // the left border has arrived
        if (rank + 1 != count)
            world.recv(nullptr, 0, ranks.rank() + 1, 1);
        diffuse(now, next, halo[step % 2].from_left, halo[step % 2].from_right);
        fult::comm::wait_all(sent);
        now.swap(next);
    }

    // Computing the whole rod serially must give the same result.
    std::vector<double> rod(cells * count), after(cells * count);
    for (int step = 0; step < steps; ++step, rod.swap(after))
        diffuse(rod, after, 1, 0);
    for (std::size_t i = 0; i < cells; ++i)
        if (now[i] != rod[rank * cells + i])
            return 1;
    if (rank == 0)
        std::printf("%zu ranks agree with one: cell 10 has %.6f\n", count, now[10]);
    fult::comm::barrier(world); // a region must live until no rank uses it
    return 0;
}
