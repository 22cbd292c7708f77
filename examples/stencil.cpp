// Heat flow along a rod. Each task computes one part; a barrier ends each step.
#include <cstdio>
#include <utility>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

using rod = std::vector<double>;

void step(const rod &from, rod &to, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
}

int main() {
    constexpr std::size_t tasks = 8, points = 800, part = points / tasks;
    constexpr int steps = 500;
    rod start(points + 2, 0.0);
    start[0] = 100; // one end stays hot, the other cold
    rod expected = start, scratch = start;
    for (int i = 0; i < steps; ++i) {
        step(expected, scratch, 1, points + 1);
        std::swap(expected, scratch);
    }

    fult::runtime runtime;
    rod now = start, next = start;
    int done = 0;
    // The last task to arrive swaps the arrays before any task continues.
    fult::barrier barrier(tasks, [&]() noexcept {
        std::swap(now, next);
        ++done;
    });
    std::vector<fult::handle<void>> parts;
    for (std::size_t t = 0; t < tasks; ++t)
        parts.push_back(fult::spawn([&, t] {
            for (int i = 0; i < steps; ++i) {
                step(now, next, 1 + t * part, 1 + (t + 1) * part);
                barrier.arrive_and_wait();
            }
        }));
    fult::join_all(parts);
    std::printf("%d steps; %.3f in the middle of the hot tenth\n", done, now[points / 20]);
    return done == steps && now == expected ? 0 : 1;
}
