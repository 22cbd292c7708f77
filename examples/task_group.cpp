// A group of tasks that search for the same thing: the first that finds it stops the others.
#include <atomic>
#include <cstdio>
#include <stop_token>
#include <utility>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

// Tasks that are stopped together, and that nobody can forget to join.
class task_group {
  public:
    template <class F> void run(F function) {
        tasks_.push_back(
            fult::spawn([function = std::move(function), stop = stop_.get_token()] { function(stop); }));
    }
    void stop() { stop_.request_stop(); }
    void join() { fult::join_all(std::exchange(tasks_, {})); }
    ~task_group() {
        stop();
        join();
    }

  private:
    std::stop_source stop_;
    std::vector<fult::handle<void>> tasks_;
};

int main() {
    constexpr unsigned searchers = 4, wanted = 1'234'577;
    fult::runtime runtime;
    std::atomic<unsigned> found{0}, stopped{0};
    fult::event never; // nobody sets it
    task_group group;
    for (unsigned s = 0; s < searchers; ++s)
        group.run([&, s](const std::stop_token &stop) {
            for (unsigned candidate = s; !stop.stop_requested(); candidate += searchers) {
                if (candidate == wanted) {
                    found = candidate;
                    group.stop();
                    return;
                }
                if (candidate % 4096 == s)
                    fult::this_task::yield(); // others of this worker have a turn
            }
            ++stopped;
        });
    group.run([&](const std::stop_token &stop) {
        if (!never.wait(stop)) // a stop request also ends a wait
            ++stopped;
    });
    group.join();
    std::printf("found %u, %u others were stopped\n", found.load(), stopped.load());
    return found == wanted && stopped == searchers ? 0 : 1;
}
