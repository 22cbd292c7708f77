#include <fult/sync.hpp>

#include "common/fult_version.hpp"
#include "micro/barrier/barrier.hpp"

namespace {
void run(unsigned tasks, unsigned phases) {
    fult::barrier<> here(tasks);
    std::vector<fult::handle<void>> all;
    for (unsigned t = 0; t < tasks; ++t)
        all.emplace_back(fult::spawn([&] {
            for (unsigned p = 0; p < phases; ++p)
                here.arrive_and_wait();
        }));
    join_all(all);
}
} // namespace

int main(int argc, char **argv) { return bench::barrier_main(argc, argv, bench::fult_version, run); }
