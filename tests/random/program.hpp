// One random program: what all its tasks and threads share, and the actors in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <fult/fult.hpp>
#include <fult/sync.hpp>

#include "draw.hpp"
#include "oracle.hpp"

namespace random_programs {

namespace this_task = fult::this_task;

// Which kinds of acts a program is made of, and how many.
struct recipe {
    std::uint64_t seed = 1;
    unsigned steps = 0;            // acts of the main task and its children; 0: drawn
    std::vector<bool> without;     // by the number of the act
    unsigned most_tasks_at_a_time; // that an act may have living: less where slots are scarce
    bool dump_signal = false;      // the runtime listens to one
    bool steals = true;            // idle workers take tasks from others
    bool extreme_times = true;     // waits until the ends of time, both of them
};

class program {
  public:
    explicit program(const recipe &r) : how(r) {}

    const recipe &how;
    ledger tasks;

    // Names of tasks, perhaps ended: a signal to one of them is at worst a spurious wake-up.
    static constexpr unsigned names = 64;
    std::atomic<std::uintptr_t> board[names]{};
    void sign_in(draw &r) noexcept {
        board[r.below(names)].store(this_task::id().value(), std::memory_order_relaxed);
    }
    void signal_at_random(draw &r) noexcept {
        if (const std::uintptr_t name = board[r.below(names)].load(std::memory_order_relaxed))
            fult::signal(fult::task_id::from_value(name));
    }

    // Kernel threads of the program: few at a time.
    bool may_start_thread() noexcept {
        if (threads_.fetch_add(1, std::memory_order_relaxed) < 6)
            return true;
        thread_ended();
        return false;
    }
    void thread_ended() noexcept { threads_.fetch_sub(1, std::memory_order_relaxed); }

    // One task at a time may keep its worker: with two workers the other one must be there for what it waits
    // for.
    bool may_compute() noexcept { return !computing_.exchange(true, std::memory_order_relaxed); }
    void computed() noexcept { computing_.store(false, std::memory_order_relaxed); }

  private:
    std::atomic<int> threads_{0};
    std::atomic<bool> computing_{false};
};

// A task, or a kernel thread that is none, with its own random numbers and a number of acts that it may do.
struct actor {
    program &in;
    draw random;
    unsigned budget = 0;

    bool is_task() const noexcept { return fult::in_task(); }
    // A part of the budget, for one of several children.
    unsigned share(unsigned children) noexcept {
        const unsigned part = budget / (children + 1);
        budget -= part;
        return part;
    }
    // Lets others run: a task yields, a thread gives its processor up.
    void pause() noexcept;
};

// What a task throws that is to throw.
struct ordered : std::runtime_error {
    explicit ordered(std::uint64_t seed) : std::runtime_error("as ordered"), number(seed) {}
    std::uint64_t number;
};

// Acts until the budget is used up.
void act(actor &a);

// The acts, by name; the order is part of what a seed means.
struct act_kind {
    const char *name;
    void (*perform)(actor &a);
    unsigned weight;
    bool tasks_only;
};
extern const std::vector<act_kind> acts;

// Runs the program from its main task, in a runtime that is there; returns when all of its acts have ended.
void run(program &p);

} // namespace random_programs
