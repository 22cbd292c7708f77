// A group of tasks searches for one value: the first task that finds it stops the others.
#include <atomic>
#include <cstdio>
#include <stdexcept>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

int main() {
    constexpr unsigned searchers = 4, wanted = 1'234'577;
    fult::runtime runtime;
    std::atomic<unsigned> found{0}, stopped{0};
    fult::event never; // never set
    fult::task_group group;
    for (unsigned s = 0; s < searchers; ++s)
        group.spawn([&, s](const std::stop_token &stop) {
            for (unsigned candidate = s; !stop.stop_requested(); candidate += searchers) {
                if (candidate == wanted) {
                    found = candidate;
                    group.request_stop();
                    return;
                }
                if (candidate % 4096 == s)
                    fult::this_task::yield(); // lets other tasks of this worker run
            }
            ++stopped;
        });
    std::atomic<unsigned> waited{0};
    group.spawn([&](const std::stop_token &stop) {
        waited = 1;
        if (!never.wait(stop)) // a stop request ends the wait
            waited = 2;
    });
    group.wait();
    std::printf("found %u\n", found.load());

    // The first exception also stops the group; wait() rethrows it.
    bool caught = false;
    group.spawn([&](const std::stop_token &stop) { (void)never.wait(stop); });
    group.spawn([] { throw std::runtime_error("nothing to be found here"); });
    try {
        group.wait();
    } catch (const std::runtime_error &error) {
        std::printf("stopped: %s\n", error.what());
        caught = true;
    }
    return found == wanted && stopped < searchers && waited != 1 && caught ? 0 : 1;
}
