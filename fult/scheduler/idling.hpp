// What a worker does without ready tasks: it polls, searches for work elsewhere, and parks.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/layout.hpp>

#include "long_sleep.hpp"
#include "parker.hpp"

namespace fult::detail {

// `here` is the worker itself.
class idling {
  public:
    // Searches all sources, and parks while they have nothing. Returns a claimed task, or nullptr if the team
    // stops.
    task *search(worker &here) noexcept;

    // While a worker is awake and polls its own words, signalers do not wake another one for these.
    void begin_polling() noexcept { polling_.store(1, std::memory_order_relaxed); }
    void end_polling(worker &here) noexcept;
    // By another thread than the worker's.
    void end_polling_elsewhere() noexcept { polling_.store(0, std::memory_order_seq_cst); }
    bool is_polling() const noexcept {
        return polling_.load(std::memory_order_seq_cst) != 0; // pairs with end_polling
    }

    // Wakes the worker. The caller has removed it from the sleepers.
    void unpark() noexcept { sleep.post(); }

    parker sleep;
    long_sleep in_long_sleep;

  private:
    enum class park_mode { until_unparked, poll_sleep };
    void park(worker &here, park_mode how) noexcept;
    task *search_selectively(worker &here) noexcept;
    task *look_for_startable(worker &here) noexcept;
    void sleep_shortly(worker &here) noexcept;
    void end_short_sleeps(worker &here) noexcept;
    void sleep_until_woken(worker &here, std::uint32_t prepared) noexcept;

    std::atomic<std::uint32_t> polling_{0};
    int next_sleep_ = 1, slept_ = 0; // milliseconds of the next short sleep, and of all since the last task
};

} // namespace fult::detail
