// The services of a runtime (detail/service.hpp), and the sleep of their watcher.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/service.hpp>

#include "parker.hpp"
#include "timer_queue.hpp"

namespace fult::detail {

class thread_wait;
class worker;
struct worker_team;

class services {
  public:
    static constexpr unsigned capacity = 8; // without the runtime's own
    enum class built_in : unsigned { time, descriptors, count };

    services() = default;
    services(const services &) = delete;
    services &operator=(const services &) = delete;

    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    bool add(service &s); // false: no free place, or no descriptor
    // Adds a service of the runtime, which has a reserved place. Workers that already sleep do not watch the
    // first service: the caller must wake one.
    bool add_built_in(service &s, built_in which);
    void remove(service &s) noexcept;
    bool has_added() const noexcept; // the runtime's own do not count
    void end() noexcept;             // the runtime has ended

    // Polls all services; true if any did something.
    bool poll() noexcept;

    // True if a service may still wake a waiting task.
    bool may_wake_any() noexcept;
    bool may_wake_any_unjudged() noexcept; // the same for services without a judge

    // The worker sleeps until a post after `prepared`, or until a service did something. Returns at
    // once if there is already a watcher (false), or if there is something to do. A short sleep also
    // ends at that time; it may be one of many, which together are a long sleep.
    struct sleep_limit {
        std::int64_t until = timer_queue::never;
        bool is_long = false;
    };
    bool watch(worker &sleeper, std::uint32_t prepared, sleep_limit most) noexcept;
    bool watch(worker &sleeper, std::uint32_t prepared) noexcept {
        return watch(sleeper, prepared, sleep_limit{});
    }
    // The same for a foreign thread, until its wait is over or the runtime ends; false: there is a watcher.
    bool watch(const worker_team &team, thread_wait &sleeper) noexcept;
    bool is_watched() const noexcept { return watched_.load(std::memory_order_seq_cst); } // pairs with watch
    // True if a worker that counts as asleep polls: it may spawn, so its tasks cannot be counted. Under
    // worker_team::counting, which keeps it false.
    bool polls_asleep() const noexcept {
        return polling_asleep_.load(std::memory_order_acquire) != 0; // pairs with watch
    }

  private:
    struct registration {
        std::atomic<service *> target{nullptr};
        std::atomic<unsigned> users{0}; // threads in one of its functions
        service *enter() noexcept;      // nullptr: the place is free; else leave must follow
        void leave() noexcept;
    };
    bool add_at(registration &at, service &s) noexcept;
    template <class Is> bool any_of(const Is &is) noexcept;
    template <class Sleep> bool sleep_once(std::int64_t until, const Sleep &sleep) noexcept;
    bool begin_watch() noexcept;
    void end_watch() noexcept;

    static constexpr unsigned registration_count = capacity + static_cast<unsigned>(built_in::count);
    registration registrations_[registration_count]; // the runtime's own are last
    std::atomic<unsigned> count_{0};
    std::atomic<bool> watched_{false};
    std::atomic<unsigned> polling_asleep_{0};
};

} // namespace fult::detail
