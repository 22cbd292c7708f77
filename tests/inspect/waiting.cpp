// A program for the debugger to inspect: it stops in stop_here while tasks wait.
#include <atomic>
#include <vector>

#include <fult/fult.hpp>
#include <fult/inspect.hpp>
#include <fult/sync.hpp>

[[gnu::noinline]] void waits_in_the_middle(fult::event &open) {
    open.wait();
    asm volatile("");
}
extern "C" [[gnu::noinline]] void stop_here() { asm volatile(""); }

int main() {
    fult::options opts = fult::read_options();
    opts.stealing = false; // a join runs its task on its own stack, unless a thief comes first
    const fult::runtime running(opts);
    fult::event open;
    std::atomic<int> started{0};
    std::vector<fult::handle<void>> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(fult::spawn({.name = "sleeper"}, [&] {
            started.fetch_add(1);
            waits_in_the_middle(open);
        }));
    all.push_back(fult::spawn({.name = "outer"}, [&] {
        auto inner = fult::spawn({.name = "inner"}, [&] { waits_in_the_middle(open); });
        inner.join();
    }));
    for (std::size_t waiting = 0; waiting < 6; fult::this_task::yield()) {
        waiting = 0;
        fult::visit_tasks([&](const fult::task_description &t) {
            waiting += t.status == fult::task_status::waiting ? 1 : 0;
        });
    }
    stop_here();
    open.set();
    fult::join_all(all);
}
