#include <mutex>

#include <fult/sync.hpp>

#include "common/fult_version.hpp"
#include "micro/lock/lock.hpp"

namespace {
void hammer(unsigned cycles, unsigned sections, unsigned long &count) {
    fult::qlock lock;
    std::vector<fult::handle<void>> tasks;
    for (unsigned t = 0; t < bench::lock_tasks; ++t)
        tasks.emplace_back(fult::spawn([&] {
            for (unsigned i = 0; i < sections; ++i) {
                std::lock_guard guard(lock);
                ++count;
                bench::critical_section(cycles);
            }
        }));
    join_all(tasks);
}

void uncontended(unsigned long count) {
    fult::qlock lock;
    for (unsigned long i = 0; i < count; ++i) {
        std::lock_guard guard(lock);
        bench::keep(i);
    }
}
} // namespace

int main(int argc, char **argv) {
    return bench::lock_main(argc, argv, bench::fult_version, hammer, uncontended);
}
