// The services of a runtime (detail/service.hpp), and the sleep of the worker that watches for them.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/service.hpp>

#include "parker.hpp"

namespace fult::detail {

class thread_wait;
class worker;
struct worker_team;

class services {
  public:
    static constexpr unsigned capacity = 8; // of others
    enum class own : unsigned { time, descriptors, count };

    services() = default;
    services(const services &) = delete;
    services &operator=(const services &) = delete;

    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    bool add(service &s); // false: no room, or no descriptor
    // One that the runtime brings along; it has a place of its own. Who sleeps already does not watch for the
    // first service: the caller wakes one.
    bool add_own(service &s, own which);
    void remove(service &s) noexcept;

    // Polls all; whether any did something.
    bool poll() noexcept;

    // Whether one of them may yet wake a task that waits now.
    bool expect_something() noexcept;
    bool expect_something_unjudged() noexcept; // the same of those that no judge knows about

    // The worker `who` sleeps until a post after `prepared`, or until some service did something; returns at
    // once where another worker watches already (false) or something is there.
    bool watch(worker &who, std::uint32_t prepared) noexcept;
    // The same for a foreign thread, until its wait is over, or the runtime ends; false: another one watches.
    bool watch(const worker_team &team, thread_wait &who) noexcept;
    bool is_watched() const noexcept { return watched_.load(std::memory_order_seq_cst); } // pairs with watch

  private:
    struct place {
        std::atomic<service *> who{nullptr};
        std::atomic<unsigned> inside{0}; // threads in one of its functions
        service *enter() noexcept;       // null: nobody is there; else leave follows
        void leave() noexcept;
    };
    bool add_at(place &at, service &s) noexcept;
    template <class Is> bool any_is(const Is &is) noexcept;
    template <class Sleep> bool sleep_once(std::int64_t until, const Sleep &sleep) noexcept;
    bool begin_watch() noexcept;
    void end_watch() noexcept;

    static constexpr unsigned places = capacity + static_cast<unsigned>(own::count);
    place places_[places]; // the runtime's own come last
    std::atomic<unsigned> count_{0};
    std::atomic<bool> watched_{false};
};

} // namespace fult::detail
