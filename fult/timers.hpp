// The deadlines of a runtime's tasks: a queue for each worker, which any worker empties when it decides what
// to run, and for which the watcher sleeps (services.hpp). No thread of its own: where all workers run
// something and reach no decision, nobody could run what a deadline makes ready either.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <fult/detail/service.hpp>

#include "spin_lock.hpp"
#include "timer_queue.hpp"

namespace fult::detail {

struct team;

class timers final : public service {
  public:
    timers() noexcept;
    timers(const timers &) = delete;
    timers &operator=(const timers &) = delete;
    ~timers(); // out of line: shard

    // Before the first deadline of a runtime. From any thread. Throws std::system_error where memory or the
    // descriptor is lacking by which a sleeping worker is told.
    void open(team &crew) {
        if (!open_.load(std::memory_order_acquire)) [[unlikely]] // pairs with open_slow
            open_slow(crew);
    }

    // By a task. From then on until it is disarmed or fired, e is the queue's.
    void arm(timer_entry &e) noexcept;
    // By anybody. When it returns, e's function does not run, nor will.
    void disarm(timer_entry &e) noexcept;

    // service
    bool poll() noexcept override;
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override;
    int descriptor() const noexcept override { return -1; }
    int patience() const noexcept override { return -1; }
    std::int64_t deadline() const noexcept override { return until_; }
    bool expects() const noexcept override {
        return next_.load(std::memory_order_relaxed) != timer_queue::never;
    }

    static std::int64_t now() noexcept; // nanoseconds of the steady clock

  private:
    struct shard;
    void open_slow(team &crew);
    void lower(std::int64_t when) noexcept;
    void look_for_next() noexcept;
    unsigned fire_some(shard &from, std::int64_t now) noexcept;

    static constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::min();

    std::unique_ptr<shard[]> shards_;
    unsigned count_ = 0;
    std::int64_t until_ = timer_queue::never; // the watcher's
    spin_lock opening_;
    std::atomic<bool> open_{false};
    // No deadline is before this. Raised only by who has looked at all queues.
    alignas(cache_line) std::atomic<std::int64_t> next_{timer_queue::never};
    // Until when the watcher sleeps; nobody: there is none, or it was told.
    std::atomic<std::int64_t> watched_until_{nobody};
};

} // namespace fult::detail
