// The lazy schedule: a worker runs its range in steps. If another worker has requested work between two steps
// (`work_requested`, docs/scheduler.md), it splits off the upper half of the rest as a task. Without
// requests there are no tasks. Source: lazy binary splitting (A. Tzannes and others, PPoPP 2010), which
// checks whether the own queue is empty; here the request itself is checked.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fult/detail/exceptions.hpp>
#include <fult/loops/parts.hpp>
#include <fult/loops/ticks.hpp>

namespace fult::detail {

// The time of an iteration in the last run, in ticks; negative if unknown. One variable per type of job,
// which is mostly one per loop in the source. Only an estimate: used to decide whether a loop without a grain
// is worth a task before it has begun.
template <class Job> inline std::atomic<float> last_cost{-1};

template <class Job> void remember_cost(float cost) noexcept {
    const float known = last_cost<Job>.load(std::memory_order_relaxed);
    if (cost > 2 * known || cost < known / 2) // mostly unchanged: avoids a write to a shared line
        last_cost<Job>.store(cost, std::memory_order_relaxed);
}

// The length of the next step. The time of an iteration is measured between steps.
class step_length {
  public:
    step_length(std::size_t iterations, std::size_t grain, float known_cost) noexcept
        : grain_(grain),
          least_(std::max<std::size_t>(grain, 1)),
          most_((std::max)(iterations / 4, least_)),
          length_(least_),
          known_cost_(known_cost),
          cost_(known_cost),
          begin_(ticks()) {
        if (cost_ >= 0)
            length_ = (std::max)(least_, (std::min)(iterations / 16, of_a_step(iterations)));
    }

    std::size_t length() const noexcept { return length_; }
    float cost() const noexcept { return cost_; }

    // Called after a step with the number of iterations done and left.
    void passed(std::size_t iterations, std::size_t left) noexcept {
        const std::uint64_t now = ticks();
        // the counter of another processor may be behind
        const auto elapsed = static_cast<std::int64_t>(now - begin_);
        cost_ = static_cast<float>(std::max<std::int64_t>(elapsed, 1)) / static_cast<float>(iterations);
        begin_ = now;
        const std::size_t grown = length_ < most_ / 8 ? length_ * 8 : most_;
        length_ = (std::max)(least_, (std::min)(grown, of_a_step(left)));
        // short by both estimates: no check in between
        if (known_cost_ >= 0 && (known_cost_ + cost_) * static_cast<float>(left) < ticks_worth_a_task)
            length_ = (std::max)(least_, left);
    }

    // True if half of that many iterations may be split off.
    bool worth_a_task(std::size_t left) const noexcept {
        if (left < 2 * least_ || left < 2)
            return false;
        return grain_ != 0 || cost_ < 0 || cost_ * static_cast<float>(left) >= ticks_worth_a_task;
    }

  private:
    // A sixteenth of the rest, bounded by time, so that no worker waits long for the last step.
    std::size_t of_a_step(std::size_t left) const noexcept {
        const float wanted =
            std::clamp(cost_ * static_cast<float>(left) / 16, ticks_worth_a_task, longest_step);
        const float iterations = wanted / cost_;
        return iterations < static_cast<float>(most_) ? static_cast<std::size_t>(iterations) : most_;
    }

    std::size_t grain_; // as given by the caller
    std::size_t least_;
    std::size_t most_; // maximum step, unless the whole part is short
    std::size_t length_;
    float known_cost_; // of the last run
    float cost_;
    std::uint64_t begin_;
};

// A Job has
//   type result            what a part leaves: default constructible, movable
//   result start()         before the first step of a part
//   step(result &, b, e)   iterations b ... e - 1
//   merge(result &, result &&above)   of the part that follows
// all but the last to be called by several workers at a time.
template <class Job> class lazy_loop {
  public:
    using result = typename Job::result;

    lazy_loop(Job &job, loop_errors &errors, std::size_t grain) noexcept
        : job_(job), errors_(errors), grain_(grain) {}

    // Runs begin ... end - 1, or as much as was done before an error. May suspend, and may resume on another
    // worker.
    result run(std::size_t begin, std::size_t end) noexcept {
        step_length step(end - begin, grain_, last_cost<Job>.load(std::memory_order_relaxed));
        result mine{};
        split_off<part> given;
        for (bool first = true; begin != end && !errors_.stopped(); first = false) {
            if (work_is_requested() && step.worth_a_task(end - begin) && !given.full() &&
                work_still_requested()) {
                const std::size_t middle = begin + (end - begin + 1) / 2;
                if (given.add({this, middle, end}))
                    end = middle;
            }
            const std::size_t count = (std::min)(step.length(), end - begin);
            one_step(mine, begin, begin + count, first);
            begin += count;
            step.passed(count, end - begin);
            if (begin != end)
                count_step();
        }
        remember_cost<Job>(step.cost());
        given.join([&](auto &above) {
            FULT_TRY { job_.merge(mine, above.join()); }
            FULT_CATCH_ALL { errors_.fail(); }
        });
        return mine;
    }

  private:
    struct part {
        lazy_loop *loop;
        std::size_t begin, end;
        result operator()() const { return loop->run(begin, end); }
    };

    void one_step(result &mine, std::size_t begin, std::size_t end, bool first) noexcept {
        FULT_TRY {
            if (first)
                mine = job_.start();
            job_.step(mine, begin, end);
        }
        FULT_CATCH_ALL { errors_.fail(); }
    }

    Job &job_;
    loop_errors &errors_;
    std::size_t grain_;
};

} // namespace fult::detail
