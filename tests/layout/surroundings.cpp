// A use of each public header, compiled by surroundings.py among other programs' macros and options.
#include <fult/blocking.h>
#include <fult/blocking.hpp>
#include <fult/comm.h>
#include <fult/comm.hpp>
#include <fult/descriptor.hpp>
#include <fult/fult.h>
#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/loops.hpp>
#include <fult/sync.h>
#include <fult/sync.hpp>

int use_all(const std::vector<double> &numbers);

int use_all(const std::vector<double> &numbers) {
    const fult::runtime running;
    fult::channel<int> letters(3);
    fult::promise<int> kept;
    fult::future<int> later = kept.get_future();
    auto sender = fult::spawn([&] {
        kept.set_value(4);
        return letters.send(3);
    });
    fult::task_group group;
    group.spawn([] {});
    group.wait();
    fult::qlock lock;
    fult::condition_variable changed;
    {
        std::unique_lock<fult::qlock> held(lock);
        changed.wait(held, [] { return true; });
    }
    fult::counting_semaphore<> tickets(1);
    tickets.acquire();
    fult::barrier<> all(1);
    all.arrive_and_wait();
    fult::parallel_for(fult::extent{3, 4}, [](std::ptrdiff_t, std::ptrdiff_t) {});
    fult::parallel_invoke([] {}, [] {});
    std::vector<double> sorted = numbers;
    fult::parallel_sort(sorted.begin(), sorted.end());
    const double sum = fult::parallel_reduce(
        0, 10, 0.0, [](int i) { return i * 0.5; }, std::plus<>());
    fult::comm::context net;
    net.world().send(3, 0, 1u);
    const int everywhere = fult::comm::allreduce(net.world(), 3, std::plus<>{});
    std::vector<fult::handle<int>> several;
    several.push_back(fult::spawn([] { return 1; }));
    const std::vector<int> results = fult::join_all(several);
    return later.get() + static_cast<int>(sum) + everywhere + fult::run_blocking([] { return 1; }) +
           static_cast<int>(results.size()) + static_cast<int>(sender.join());
}
