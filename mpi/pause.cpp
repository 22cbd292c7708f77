#include "pause.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <sched.h>
#include <unistd.h>

#include <fult/detail/assertion.hpp>
#include <fult/runtime.hpp>

#include "fult/base/start_affinity.hpp"
#include "fult/scheduler/binding.hpp"
#include "options.hpp"

namespace fult::mpi {
namespace {

constexpr std::int64_t nanoseconds_in_microsecond = 1000;
constexpr std::int64_t not_worth_it = 20'000;
constexpr std::int64_t share_of_quiet_time = 8;

// A launcher that gives each rank processors of its own has shared them out: then only the rank's own workers
// count.
bool look_whether_crowded() noexcept {
    const auto processors = static_cast<unsigned>(CPU_COUNT(&fult::detail::processors_at_start()));
    static const auto online = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)); // reads a file
    const bool all = processors == online;
    const unsigned ranks = all ? fult::detail::ranks_on_this_host() : 1;
    return ranks * static_cast<unsigned>(std::max(fult::worker_count(), 1)) > processors;
}

} // namespace

std::int64_t pause_length::now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::int64_t pause_length::longest() noexcept {
    return the_options().poll_pause * nanoseconds_in_microsecond;
}

std::int64_t pause_length::next(unsigned long activity) noexcept {
    const std::int64_t time = now();
    if (activity != seen_) {
        seen_ = activity;
        since_ = time;
    }
    quiet_ = time - since_;
    FULT_ASSERT(quiet_ >= 0, "the steady clock does not go back");
    const std::int64_t pause = std::min(quiet_ / share_of_quiet_time, longest());
    return pause < not_worth_it ? 0 : pause;
}

bool is_crowded() noexcept {
    constexpr unsigned between_looks = 4096; // workers may have been added
    static thread_local unsigned calls = 0;  // this function does not suspend
    static std::atomic<bool> crowded{false};
    if (calls++ % between_looks == 0)
        crowded.store(look_whether_crowded(), std::memory_order_relaxed);
    return crowded.load(std::memory_order_relaxed);
}

void yield_if_crowded() noexcept {
    constexpr unsigned interval = 16;
    static thread_local unsigned calls = 0;
    if (is_crowded() && ++calls % interval == 0)
        ::sched_yield();
}

} // namespace fult::mpi
