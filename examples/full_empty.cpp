// Full/empty bits: a read waits until the word has been written, so the tasks may start in any order.
#include <cstdio>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

int main() {
    constexpr std::size_t count = 90;
    fult::runtime runtime;

    // Fibonacci numbers, one task each, spawned in the wrong order.
    std::vector<fult::full_empty<long>> fib(count);
    std::vector<fult::handle<void>> tasks;
    for (std::size_t i = count; i-- > 2;)
        tasks.push_back(
            fult::spawn([&fib, i] { fib[i].writeEF(fib[i - 1].readFF() + fib[i - 2].readFF()); }));
    fib[0].writeF(0);
    fib[1].writeF(1);
    const long last = fib[count - 1].readFF();
    fult::join_all(tasks);

    // readFE empties the word and writeEF fills it: in between no other task has the number, as with a lock.
    fult::full_empty<int> counter(0);
    std::vector<fult::handle<void>> counters;
    for (int t = 0; t < 8; ++t)
        counters.push_back(fult::spawn([&counter] {
            for (int i = 0; i < 1'000; ++i)
                counter.writeEF(counter.readFE() + 1);
        }));
    fult::join_all(counters);

    std::printf("%ld, %d\n", last, counter.readFF());
    return last == 1'779'979'416'004'714'189 && counter.readFF() == 8'000 ? 0 : 1;
}
