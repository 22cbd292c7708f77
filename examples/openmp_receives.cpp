// 10,000 OpenMP tasks on two threads. Each receives a message and sends one on to the next task: a chain that
// no OpenMP library can run whose tasks block their threads in a receive. Run it with fult-omp.
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <fult/comm.hpp>
#include <fult/fult.hpp>

int main(int count, char **arguments) {
    const int tasks = count > 1 ? std::atoi(arguments[1]) : 10'000;
    fult::runtime runtime;
    fult::comm::context ranks;
    fult::comm::endpoint &world = ranks.world();
    const int here = ranks.rank();

    std::atomic<int> right{0};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        for (int i = 0; i < tasks; ++i)
#pragma omp task firstprivate(i) shared(world, right)
        {
            const int ball = world.recv<int>(here, static_cast<unsigned>(i));
            right += ball == i;
            world.send(ball + 1, here, static_cast<unsigned>(i) + 1);
        }
        world.send(0, here, 0u); // all tasks wait for it, directly or not
    }
    const int last = world.recv<int>(here, static_cast<unsigned>(tasks));
    std::printf("%d tasks received, the last message is %d\n", right.load(), last);
    return right == tasks && last == tasks ? 0 : 1;
}
