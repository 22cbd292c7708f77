// Ends a failing program with all information to repeat it: the error, the seed, and what every actor of this
// process was doing.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace fult::comm::testing {

// What an actor is doing, for reports.
struct activity {
    std::string name;
    std::atomic<const char *> call{"starting"};
    std::atomic<std::uint64_t> step{0};
};

class watch {
  public:
    // Prints `program` with each report. If no actor of this process has made a step for this many seconds,
    // it reports this, dumps the tasks, and ends the process. 0: never.
    watch(std::string program, unsigned seconds);
    watch(const watch &) = delete;
    watch &operator=(const watch &) = delete;
    ~watch();

    // What else to print.
    void describe(std::string program);
    activity *enter(std::string name);
    void leave(activity *what);
    void stepped(activity *what, const char *call) noexcept {
        what->call.store(call, std::memory_order_relaxed);
        what->step.fetch_add(1, std::memory_order_relaxed);
        steps_.fetch_add(1, std::memory_order_relaxed);
    }

    [[noreturn]] void fail(const std::string &what);

  private:
    void look();
    void print_activities();

    std::string program_;
    const unsigned seconds_;
    std::mutex lock_;
    std::list<activity> active_;
    std::atomic<std::uint64_t> steps_{0};
    std::atomic<bool> over_{false};
    std::thread thread_;
};

} // namespace fult::comm::testing
