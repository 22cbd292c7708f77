// What the workers of a runtime share.
#pragma once

#include <atomic>
#include <cfenv>
#include <vector>

#include <fult/detail/stillness.hpp>
#include <fult/options.hpp>

#include "services.hpp"
#include "sleepers.hpp"
#include "spin_lock.hpp"
#include "stack_pool.hpp"
#include "timers.hpp"

namespace fult::detail {

class worker;

struct team {
    explicit team(const options &opts, const stack_settings &stack_opts) : opts(opts), stacks(stack_opts) {}

    options opts;
    stack_pool stacks;
    std::fenv_t fp_at_start{};   // the floating-point environment of who started the runtime
    unsigned count = 0;          // workers
    unsigned processors = 1;     // that they may use
    std::vector<worker *> homes; // the workers, then the home of what foreign threads spawn
    bool private_words = true;   // as asked for, and possible here
    bool alone = false;          // nobody steals: one worker, or stealing is off
    alignas(64) std::atomic<bool> stopping{false};
    std::atomic<bool> ending{false};                // the main task waits for the end of all others
    std::atomic<bool> short_of_stacks{false};       // the last attempt to get one failed
    bool ends_shortage() noexcept;                  // tries again (switch.cpp)
    alignas(64) std::atomic<unsigned> searching{0}; // workers awake that look for work everywhere
    sleepers asleep;
    std::atomic<unsigned> dozing{0}; // of those asleep: look by themselves soon at what was handed over
    services outside;                // what arrives from elsewhere
    timers time;                     // deadlines of tasks
    std::atomic<bool> watches_descriptors{false}; // descriptors.hpp is among `outside`
    std::atomic<unsigned> helpers{0};             // threads of the runtime beside the workers, and
    std::atomic<unsigned> idle_blocking{0};       // those of the blocking pool that run no call
    // Workers that have slept for a while, while they do nothing else; and how often one of them went on.
    std::atomic<unsigned> settled{0};
    std::atomic<unsigned> roused{0};
    std::atomic<bool> told_deadlock{false};
    deadlock_judge *judge = nullptr; // the first one; under `judging`
    std::atomic<unsigned> judges{0};
    spin_lock judging; // held while a judge is in use
    spin_lock counting; // held while the tasks of sleeping workers are counted: who wakes up waits for that

    worker &foreign_home() const noexcept { return *homes[count]; }

    // Wakes whoever should run a task whose bit was just set among home's words.
    void wake_for(const worker &home, bool only_home) noexcept;
    // Wakes one worker if any sleeps.
    void wake_one(unsigned near) noexcept;
    void wake(unsigned index) noexcept;
};

// The running team, or null.
team *running_team() noexcept;

// While it lives, the running team is not taken down.
class team_guard {
  public:
    team_guard() noexcept;
    ~team_guard();
    team_guard(const team_guard &) = delete;
    team_guard &operator=(const team_guard &) = delete;
};

// A foreign thread that uses the running team for long: while it is there the team is not destroyed, and the
// end of the runtime rings the bell until it has left.
class team_visit {
  public:
    team_visit() noexcept;
    ~team_visit();
    team_visit(const team_visit &) = delete;
    team_visit &operator=(const team_visit &) = delete;
    team *crew() const noexcept { return crew_; } // null: none runs

  private:
    team *crew_;
};

} // namespace fult::detail
