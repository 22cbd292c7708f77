#include "progress_service.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <sys/eventfd.h>

#include <fult/detail/misuse.hpp>
#include <fult/detail/stillness.hpp>
#include <fult/runtime.hpp>

#include "options.hpp"

namespace fult::mpi {
namespace {

constexpr auto never = (std::numeric_limits<std::int64_t>::max)();
// A rank that communicates now and then is not woken by a system call for each message, but sleeps for short
// times.
constexpr std::int64_t quiet_before_long_sleep = 10'000'000;
constexpr std::int64_t pause_without_operations = 200'000;

} // namespace

// Never destroyed: workers may poll while the process ends.
progress_service &the_progress_service() noexcept {
    static auto *const one = new progress_service(the_engine());
    return *one;
}

bool progress_service::add() noexcept {
    if (fult::worker_count() == 0) // without a runtime, when an exception would be all that comes of it
        return false;
    const std::lock_guard hold(adding_);
    if (added_.load(std::memory_order_relaxed))
        return true;
    if (wake_ < 0)
        wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0)
        return false;
    try {
        fult::detail::add_service(*this);
    } catch (const std::exception &) {
        return false;
    }
    added_.store(true, std::memory_order_release); // pairs with ensure_added
    return true;
}

void progress_service::remove() noexcept {
    const std::lock_guard hold(adding_);
    if (!added_.load(std::memory_order_relaxed))
        return;
    fult::detail::remove_service(*this);
    added_.store(false, std::memory_order_relaxed);
}

bool progress_service::poll() noexcept {
    if (engine_.poll_if_unattended())
        return true;
    if (engine_.under_way() != 0)
        yield_if_crowded();
    return false;
}

// Without operations it sleeps until the first one; but first for short times, see above.
bool progress_service::prepare_sleep() noexcept {
    if (engine_.poll_if_unattended())
        return false;
    const std::int64_t pause = engine_.next_pause(pauses_);
    if (engine_.under_way() != 0) {
        report_silence();
        until_ = pause_length::now() + pause;
        return pause != 0;
    }
    if (pauses_.quiet_for() < quiet_before_long_sleep) {
        until_ = pause_length::now() + std::max(pause, pause_without_operations);
        return true;
    }
    FULT_ASSERT(wake_ >= 0, "there is a way to wake it");
    until_ = never;
    in_long_sleep_.store(true, std::memory_order_seq_cst); // pairs with wake_sleeper
    if (engine_.under_way() == 0)
        return true;
    end_sleep();
    return false;
}

// What a hang of a job looks like from one of its ranks.
void progress_service::report_silence() noexcept {
    constexpr std::int64_t nanoseconds_in_second = 1'000'000'000;
    const unsigned after = the_options().report_after;
    if (after == 0 || reported_ || pauses_.quiet_for() < after * nanoseconds_in_second)
        return;
    reported_ = true;
    int rank = 0;
    char peers[400], text[sizeof peers + 120];
    engine_.describe_silence(rank, peers, sizeof peers);
    std::snprintf(text, sizeof text,
                  "no MPI operation of rank %d has begun or ended for %u s (FULT_MPI_REPORT_AFTER): %s", rank,
                  after, peers);
    const bool ends = fult::detail::deadlock_wanted() == deadlock_mode::abort;
    if (fult::detail::report_deadlock(text) && ends)
        fult::detail::abort_reported();
}

void progress_service::end_sleep() noexcept {
    if (until_ != never)
        return;
    in_long_sleep_.store(false, std::memory_order_relaxed);
    eventfd_t times = 0;
    ::eventfd_read(wake_, &times);
}

void progress_service::wake() noexcept {
    if (in_long_sleep_.exchange(false, std::memory_order_relaxed))
        ::eventfd_write(wake_, 1);
}

} // namespace fult::mpi
