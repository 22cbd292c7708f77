#include "statistics.hpp"

#include <cstdio>
#include <mutex>

#include <fult/detail/assertion.hpp>

#include "options.hpp"
#include "pause.hpp"

namespace fult::mpi {

bool statistics::is_wanted() noexcept { return the_options().statistics; }

statistics::wait_time::wait_time(statistics &in, const char *call) noexcept
    : in_(in), call_(call), begin_(is_wanted() ? pause_length::now() : 0) {}

statistics::wait_time::~wait_time() {
    if (is_wanted())
        in_.add(call_, pause_length::now() - begin_);
}

void statistics::add(const char *call, std::int64_t duration) noexcept {
    FULT_ASSERT(duration >= 0);
    const std::lock_guard hold(adding_);
    if (duration < longest_)
        return;
    longest_ = duration;
    longest_call_ = call;
}

void statistics::print(int rank) noexcept {
    constexpr double nanoseconds_in_millisecond = 1e6;
    std::fprintf(stderr, "fult-mpi: rank %d: %lu operations, %lu of them waited; %lu polls", rank,
                 operations_, waits_.load(std::memory_order_relaxed), polls_);
    if (longest_call_)
        std::fprintf(stderr, "; the longest wait took %.3f ms, in %s",
                     static_cast<double>(longest_) / nanoseconds_in_millisecond, longest_call_);
    std::fputc('\n', stderr);
}

} // namespace fult::mpi
