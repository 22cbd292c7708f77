// The frame of all loops, and the guided and fixed schedules.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <fult/detail/exceptions.hpp>
#include <fult/loops/lazy.hpp>
#include <fult/loops/schedule.hpp>
#include <fult/runtime.hpp>
#include <fult/this_task.hpp>

namespace fult::detail {

// Calls the function as a task: directly, or, on a foreign thread, in a task that it joins.
template <class Function> decltype(auto) run_as_task(Function &&function) {
    if (running_task()) [[likely]] {
        count_loop();
        return function();
    }
    return spawn([&function] { return function(); }).join();
}

// Tasks that other workers may run; joined newest first by the destructor.
class helpers {
  public:
    explicit helpers(std::size_t most) { tasks_.reserve(most); }
    helpers(const helpers &) = delete;
    helpers &operator=(const helpers &) = delete;
    ~helpers() {
        while (!tasks_.empty()) {
            tasks_.back().join(); // the functions do not throw
            tasks_.pop_back();
        }
    }
    // Throws if it cannot be spawned; there are no other effects then.
    template <class Function> void add(const spawn_options &where, Function function) {
        tasks_.push_back(spawn(where, std::move(function)));
    }
    template <class Function> void add(Function function) { tasks_.push_back(spawn(std::move(function))); }

  private:
    std::vector<handle<void>> tasks_;
};

// The guided schedule: pieces shrink; each is half of an even share of the rest.
template <class Job> class guided_loop {
  public:
    guided_loop(Job &job, loop_errors &errors, std::size_t count, std::size_t grain) noexcept
        : job_(job),
          errors_(errors),
          count_(count),
          grain_(std::max<std::size_t>(grain, 1)),
          workers_(static_cast<std::size_t>(worker_count())) {}

    void run() {
        helpers others(workers_ - 1);
        FULT_TRY {
            for (std::size_t i = 1; i < (std::min)(workers_, (count_ - 1) / grain_ + 1); ++i)
                others.add([this] { take_pieces(); });
        }
        FULT_CATCH_ALL { // no slot: the existing tasks run all pieces
        }
        take_pieces();
    }

  private:
    void take_pieces() noexcept {
        FULT_TRY {
            std::size_t begin = next_.load(std::memory_order_relaxed);
            while (begin < count_ && !errors_.stopped()) {
                const std::size_t left = count_ - begin;
                const std::size_t size = (std::min)(left, (std::max)(grain_, left / (2 * workers_)));
                if (!next_.compare_exchange_weak(begin, begin + size, std::memory_order_relaxed))
                    continue;
                auto mine = job_.start();
                job_.step(mine, begin, begin + size);
                if (work_is_requested())
                    (void)work_still_requested(); // other tasks of this loop may still be private here
                count_step();
                begin = next_.load(std::memory_order_relaxed);
            }
        }
        FULT_CATCH_ALL { errors_.fail(); }
    }

    Job &job_;
    loop_errors &errors_;
    const std::size_t count_, grain_, workers_;
    alignas(cache_line) std::atomic<std::size_t> next_{0};
};

// The fixed schedule: part k belongs to worker k and has the pieces k, k + parts, ... Other workers may steal
// a part that has not begun.
template <class Job> class fixed_loop {
  public:
    fixed_loop(Job &job, loop_errors &errors, std::size_t count, std::size_t grain) noexcept
        : job_(job), errors_(errors), count_(count) {
        const auto workers = static_cast<std::size_t>(worker_count());
        piece_ = grain != 0 ? grain : count / workers + (count % workers != 0);
        pieces_ = count / piece_ + (count % piece_ != 0);
        parts_ = (std::min)(workers, pieces_);
    }

    void run() {
        const std::size_t here =
            std::min<std::size_t>(static_cast<std::size_t>(this_task::worker()), parts_ - 1);
        helpers others(parts_ - 1);
        std::size_t k = 0;
        FULT_TRY {
            for (; k < parts_; ++k)
                if (k != here)
                    others.add({.worker = static_cast<int>(k)}, [this, k] { run_part(k); });
        }
        FULT_CATCH_ALL { // no slot: run the rest here
            for (; k < parts_; ++k)
                if (k != here)
                    run_part(k);
        }
        run_part(here);
    }

  private:
    void run_part(std::size_t part) noexcept {
        FULT_TRY {
            for (std::size_t k = part; k < pieces_ && !errors_.stopped(); k += parts_) {
                auto mine = job_.start();
                const std::size_t begin = k * piece_;
                job_.step(mine, begin, begin + (std::min)(piece_, count_ - begin));
                count_step();
                if (parts_ > pieces_ - 1 - k)
                    break; // k += parts_ could overflow
            }
        }
        FULT_CATCH_ALL { errors_.fail(); }
    }

    Job &job_;
    loop_errors &errors_;
    const std::size_t count_;
    std::size_t piece_, pieces_, parts_;
};

// A loop without a result.
struct no_result {};

template <class Step> struct plain_job {
    Step call;
    using result = no_result;
    static result start() noexcept { return {}; }
    void step(result &, std::size_t begin, std::size_t end) { call(begin, end); }
    static void merge(result &, result &&) noexcept {}
};

// Runs 0 ... count - 1 in pieces; `step` runs a piece.
template <class Step>
void run_loop(std::size_t count, const loop_options &options, std::size_t grain, Step step) {
    if (count == 0)
        return;
    plain_job<Step> job{std::move(step)};
    run_as_task([&] {
        loop_errors errors;
        switch (options.schedule) {
        case schedule::lazy:
            lazy_loop<plain_job<Step>>(job, errors, grain).run(0, count);
            break;
        case schedule::guided:
            guided_loop<plain_job<Step>>(job, errors, count, grain).run();
            break;
        case schedule::fixed:
            fixed_loop<plain_job<Step>>(job, errors, count, grain).run();
            break;
        }
        errors.rethrow();
    });
}

} // namespace fult::detail
