// Threads of the program open teams that meet at a barrier of the program's own, at which members spin: as
// BLAS libraries do. Teams that are open at once are on different workers.
// libraries: -pthread
#include <atomic>
#include <omp.h>
#include <sched.h>
#include <thread>
#include <vector>

#include "check.h"

namespace {

class spin_barrier {
  public:
    void meet(int members) {
        const int mine = phase_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
            arrived_.store(0, std::memory_order_relaxed);
            phase_.store(mine + 1, std::memory_order_release);
            return;
        }
        while (phase_.load(std::memory_order_acquire) == mine)
            sched_yield();
    }

  private:
    std::atomic<int> phase_{0}, arrived_{0};
};

void open_regions(int regions, int members) {
    spin_barrier barrier;
    for (int i = 0; i < regions; ++i) {
        int there = 0;
#pragma omp parallel num_threads(members) reduction(+ : there)
        {
            const int team = omp_get_num_threads();
            for (int k = 0; k < 3; ++k)
                barrier.meet(team);
            there = team == members;
        }
        CHECK(there == members);
    }
}

void at_once(int threads, int regions, int members) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back(open_regions, regions, members);
    open_regions(regions, members);
    for (std::thread &each : all)
        each.join();
}

// All teams at the same time, and members of one wait for those of another.
void all_meet(int threads, int members) {
    spin_barrier barrier;
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i)
        all.emplace_back([&barrier, threads, members] {
            for (int round = 0; round < 20; ++round)
#pragma omp parallel num_threads(members)
                barrier.meet(threads * members);
        });
    for (std::thread &each : all)
        each.join();
}

// A team inside a region of one thread: it is the first active one.
void in_serialized_region(int members) {
    std::thread other(open_regions, 30, members);
#pragma omp parallel num_threads(1)
    open_regions(30, members);
    other.join();
}

int number;
#pragma omp threadprivate(number)

// Threads keep their variables from one region to the next, whatever other threads open in between.
void keep_variables(int members, int levels) {
    omp_set_max_active_levels(levels);
#pragma omp parallel num_threads(members)
    number = 1 + omp_get_thread_num();
    for (int size = 2; size < 6; ++size) {
        std::vector<std::thread> all;
        for (int i = 0; i < 2; ++i)
            all.emplace_back(open_regions, 3, size);
        for (std::thread &each : all)
            each.join();
        int kept = 0;
#pragma omp parallel num_threads(members) reduction(+ : kept)
        kept = number == 1 + omp_get_thread_num();
        CHECK(kept == members);
    }
    omp_set_max_active_levels(1);
}

} // namespace

int main() {
    keep_variables(4, 1);
    at_once(1, 50, 2);
    at_once(2, 50, 4);
    all_meet(3, 3);
    for (int members = 2; members < 8; ++members) // threads that begin and end, and teams of other sizes
        at_once(2, 10, members);
    all_meet(6, 3);
    in_serialized_region(3);
    keep_variables(3, 2);
    return 0;
}
