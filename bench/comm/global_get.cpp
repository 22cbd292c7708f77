// Gets of 8 bytes from the heap of another rank, by tasks of rank 0: a hit and a miss of the cache by one
// task, in ns; and gets without a cache by one task and by 10,000 at once, million per second. Rank 1 has
// nothing else to do.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fult/global.hpp>

#include "comm/connection.hpp"

namespace {
using namespace bench;

constexpr std::size_t objects = 4096;
constexpr std::size_t lines_hit = 256; // in the first cache of the processor

class heaps {
  public:
    explicit heaps(connection &here)
        : here_(here),
          memory_(here.world(), {.heap = objects * sizeof(std::uint64_t) + 4096}),
          numbers_(memory_, 2 * objects), // a block for each rank
          keeps_(memory_),
          drops_(memory_, {.policy = fult::global::cache_policy::none}) {
        for (std::size_t i = 0; i < objects; ++i) {
            numbers_.local()[i] = i;
            there_.push_back(numbers_.pointer(objects + i));
        }
        memory_.barrier();
    }

    void hit(unsigned long gets) { get_by(keeps_, gets, lines_hit); }
    void miss(unsigned long gets) { get_by(drops_, gets, objects); }
    void without(unsigned long task, unsigned long gets) {
        for (unsigned long k = 0; k < gets; ++k)
            check(memory_.get(there_[(task + k) % objects]), task + k);
    }

  private:
    void check(std::uint64_t value, unsigned long k) {
        if (value != k % objects)
            wrong("an object of the other rank");
    }
    void get_by(fult::global::cache &lines, unsigned long gets, unsigned long different) {
        for (unsigned long k = 0; k < gets; ++k)
            check(*lines.get(there_[k % different]), k % different);
    }

    connection &here_;
    fult::global::memory memory_;
    fult::global::global_vector<std::uint64_t> numbers_;
    fult::global::cache keeps_, drops_;
    std::vector<fult::global::global_ptr<std::uint64_t>>
        there_; // rank 1's objects, which are found by a division
};

// Seconds of a round of `work` by rank 0, while rank 1 waits for its end.
template <class Work> double seconds_of_rank_0(connection &here, const patience &wanted, Work work) {
    return seconds_a_round(here, wanted, [&](unsigned long rounds) {
        std::uint64_t word = rounds;
        if (here.rank() != 0)
            return here.recv(&word, sizeof word, 1);
        work(rounds);
        here.send(&word, sizeof word, 1);
    });
}

} // namespace

int main(int argc, char **argv) {
    patience wanted;
    arguments line("comm_global_get: gets of 8 bytes of another rank's heap: ns, and million per second.");
    wanted.declare(line);
    line.parse(argc, argv);
    connection here(false);
    heaps all(here);
    const auto measured = [&](const char *name, double value, const char *unit) {
        return measure{"comm_global_get", name, connection::version, connection::workers(), value, unit};
    };
    const auto rate = [&](unsigned long tasks) {
        return double(tasks) / 1e6 / seconds_of_rank_0(here, wanted, [&](unsigned long rounds) {
                   here.tasks(tasks, [&all, rounds](unsigned long task) { all.without(task, rounds); });
               });
    };
    wanted.fewest = lines_hit; // all are cached after the first rounds, which do not count
    const double hit = seconds_of_rank_0(here, wanted, [&](unsigned long rounds) { all.hit(rounds); });
    wanted.fewest = 10;
    const double miss = seconds_of_rank_0(here, wanted, [&](unsigned long rounds) { all.miss(rounds); });
    const double one = rate(1), many = rate(10'000);
    if (here.rank() != 0)
        return 0;
    report(measured("hit", 1e9 * hit, "ns"));
    report(measured("miss", 1e9 * miss, "ns"));
    report(measured("n = 1", one, "Mget/s"));
    report(measured("n = 10000", many, "Mget/s"), "n = 1", one);
    return 0;
}
