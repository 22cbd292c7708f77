// The deadlines of a runtime's tasks: one queue per worker. Any worker fires due deadlines at its decisions,
// and the watcher sleeps until the first one (services.hpp). There is no timer thread: if no worker reaches a
// decision, no worker could run the awakened task either.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <fult/detail/service.hpp>

#include "fult/base/spin_lock.hpp"
#include "timer_queue.hpp"

namespace fult::detail {

struct worker_team;

class timers final : public service {
  public:
    timers() noexcept;
    timers(const timers &) = delete;
    timers &operator=(const timers &) = delete;
    ~timers(); // not inline: shard is incomplete here

    // Must be called before the first deadline of a runtime. From any thread. Throws std::system_error if the
    // memory, or the descriptor that wakes the watcher, cannot be allocated.
    void open(worker_team &team) {
        if (!open_.load(std::memory_order_acquire)) [[unlikely]] // pairs with open_slow
            open_slow(team);
    }

    // Called by a task. From then on e belongs to the queue, until it is disarmed or has fired.
    void arm(timer_entry &e) noexcept;
    // From any thread. When it returns, e's function is not running and will not run.
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
    void open_slow(worker_team &team);
    void lower(std::int64_t when) noexcept;
    void update_next() noexcept;
    unsigned fire_some(shard &from, std::int64_t now) noexcept;

    static constexpr std::int64_t no_watcher = std::numeric_limits<std::int64_t>::min();

    std::unique_ptr<shard[]> shards_;
    unsigned count_ = 0;
    std::int64_t until_ = timer_queue::never; // the watcher's
    spin_lock opening_;
    std::atomic<bool> open_{false};
    // A lower bound of all deadlines. Raised only after all queues have been checked.
    alignas(cache_line) std::atomic<std::int64_t> next_{timer_queue::never};
    // The time until which the watcher sleeps; `no_watcher`: there is no watcher, or it has been woken.
    std::atomic<std::int64_t> watched_until_{no_watcher};
};

} // namespace fult::detail
