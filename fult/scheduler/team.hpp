// The state that the workers of a runtime share, and the hints of a large team.
#pragma once

#include <array>
#include <atomic>
#include <cfenv>

#include <fult/detail/stillness.hpp>
#include <fult/options.hpp>

#include "fult/base/spin_lock.hpp"
#include "fult/base/worker_bits.hpp"
#include "fult/memory/stack_pool.hpp"
#include "services.hpp"
#include "timers.hpp"

namespace fult::detail {

class worker;

// In a team of more workers than each looks at one by one (neighbours::max_neighbours): hints at the workers
// that may have tasks for others. So a search, and the last look before a sleep, cost the same in teams of a
// hundred workers and of a thousand. docs/scheduler.md, "Stealing and sleeping"; tests/model/sleep.pml,
// CROWD.
//
// A team that grows may become a crowd while it runs (BECOMES in the model). It sets the hints from its start
// on, and no thread clears or reads them before it is one. So at each moment both ways to look are right, and
// a worker may change over at its next look.
class crowd {
  public:
    // Before there are workers: from now on they set hints.
    void open(unsigned workers) noexcept {
        has_hints_ = true;
        for (unsigned i = 0; i < workers; ++i)
            hiding.add(i);
    }
    bool has_hints() const noexcept { return has_hints_; }
    // Before there is a worker that is not a neighbour of all others.
    void begin() noexcept {
        FULT_ASSERT(has_hints_);
        exists_.store(true, std::memory_order_seq_cst); // pairs with exists
    }
    bool exists() const noexcept {
        return exists_.load(std::memory_order_seq_cst); // pairs with begin; after sleepers::add
    }
    // False: there is no hint. True without a crowd.
    bool may_show(unsigned worker) const noexcept { return !exists() || shown.contains(worker); }
    bool may_hide(unsigned worker) const noexcept { return !exists() || hiding.contains(worker); }

    // Homes with public tasks or a chain of handed-off ones: one more level above those of the public words,
    // with the same rules. Set after the task's bit, and before the sleepers are read. It is cleared by a
    // thief that finds nothing there and looks once more (forget_if_empty).
    worker_bits shown;
    void forget_if_empty(const worker &home) noexcept;

    // Workers that may have private tasks without having been asked for them. A worker that falls asleep
    // takes the bits, sets `work_requested` there, and looks at their private words after a fence: it sets
    // the bits again where there are tasks. Their owner sets its bit after it has cleared `work_requested`.
    // So a worker whose bit is clear either publishes at its next change of a private word, or another one,
    // which is awake, is about to look there.
    worker_bits hiding;

  private:
    bool has_hints_ = false;
    std::atomic<bool> exists_{false};
};

struct worker_team {
    explicit worker_team(const options &opts, const stack_settings &stack_opts)
        : opts(opts), stacks(stack_opts), idle_spin(opts.idle_spin) {}

    options opts;
    stack_pool stacks;
    std::fenv_t fp_at_start{}; // floating-point environment of the thread that started the runtime
    unsigned processors = 1;   // number of processors they may use
    bool private_words = true; // requested, and supported here
    bool stealing_disabled = false;
    std::atomic<unsigned> idle_spin{0}; // microseconds; as in the options, until it is changed

    // The homes: those of the workers by number, and the one for tasks of foreign threads. The number of
    // workers grows where a runtime gets more of them (engine::add_workers). A home is in the array before
    // its number is seen anywhere.
    static constexpr unsigned max_workers = worker_bits::capacity, foreign_index = max_workers;
    std::array<worker *, max_workers + 1> homes{};
    unsigned count() const noexcept { return count_.load(std::memory_order_acquire); } // number of workers
    bool may_steal() const noexcept { return !stealing_disabled && count() > 1; }
    void set_count(unsigned workers) noexcept;
    void await_count(unsigned workers) const noexcept;
    worker &foreign_home() const noexcept { return *homes[foreign_index]; }
    template <class Each> void for_each_home(const Each &each) const {
        for (unsigned i = 0; i < count(); ++i)
            each(*homes[i]);
        if (homes[foreign_index])
            each(*homes[foreign_index]);
    }

    alignas(64) std::atomic<bool> stopping{false};
    std::atomic<bool> ending{false};                // the main task waits for the end of all others
    std::atomic<bool> closed{false};                // no foreign thread may spawn: not yet, or not any more
    std::atomic<bool> short_of_stacks{false};       // the last attempt to get one failed
    bool ends_shortage() noexcept;                  // tries again
    alignas(64) std::atomic<unsigned> searching{0}; // number of awake workers that search all sources
    detail::sleepers sleepers;
    detail::sleepers short_sleepers; // not there for what others may start (idling.cpp)
    detail::crowd crowd;             // hints, if there are many workers, or may be
    // number of workers in a poll sleep: they poll for handed-off tasks soon
    std::atomic<unsigned> poll_sleeping{0};
    detail::services services;                    // sources of external events
    detail::timers timers;                        // deadlines of tasks
    std::atomic<bool> watches_descriptors{false}; // descriptors.hpp is among `services`
    std::atomic<unsigned> helpers{0};             // number of threads of the runtime besides the workers,
    std::atomic<unsigned> idle_blocking{0};       // and of threads of the blocking pool that run no call
    // Number of workers in a long sleep that do nothing else, and number of times one of them was unparked.
    std::atomic<unsigned> long_asleep{0};
    std::atomic<unsigned> unparked{0};
    std::atomic<bool> deadlock_reported{false};
    deadlock_judge *judge = nullptr; // the first one; under `judging`
    std::atomic<unsigned> judges{0};
    spin_lock judging; // held while a judge is in use
    // held while the tasks of sleeping workers are counted; a worker that wakes up waits for it
    spin_lock counting;
    std::atomic<unsigned> trimming{0}; // number of sleeping workers that trim: theirs cannot be counted

    // Wakes a worker that should run a task whose bit was just set in home's words (idling.cpp).
    void wake_for(const worker &home, bool only_home) noexcept;
    // Wakes one worker; false: none sleeps.
    bool wake_one(unsigned near) noexcept;
    void wake(unsigned index) noexcept;

  private:
    alignas(64) std::atomic<unsigned> count_{0}; // seldom written, often read
};

// The running team; nullptr if there is none.
worker_team *running_team() noexcept;

// While it lives, the running team is not destroyed.
class team_guard {
  public:
    team_guard() noexcept;
    ~team_guard();
    team_guard(const team_guard &) = delete;
    team_guard &operator=(const team_guard &) = delete;
};

// A foreign thread's use of the running team, and of the memory of its tasks: neither goes while it lives.
// The end of the runtime waits for it, and rings the bell meanwhile. Every entry of a foreign thread that
// reads a descriptor, a home or the team is within one, from before the task that keeps the runtime running
// may end (tests/model/end.pml). On a worker it does nothing: a runtime does not end before its tasks.
class team_visit {
  public:
    team_visit() noexcept : team_visit(nullptr) {}
    explicit team_visit(const worker *here) noexcept { // the calling worker, or nullptr
        if (!here) [[unlikely]]
            begin();
    }
    ~team_visit() {
        if (is_counted_) [[unlikely]]
            end();
    }
    team_visit(const team_visit &) = delete;
    team_visit &operator=(const team_visit &) = delete;
    worker_team *team() const noexcept { return team_; } // null: a worker, or no runtime is running

  private:
    void begin() noexcept;
    void end() noexcept;

    bool is_counted_ = false;
    worker_team *team_ = nullptr;
};

} // namespace fult::detail
