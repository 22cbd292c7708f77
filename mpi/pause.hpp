// How long a rank that waits may pause between two polls: MPI has no descriptor on which to sleep.
#pragma once

#include <cstdint>

namespace fult::mpi {

// In nanoseconds. One eighth of the time for which nothing has happened: so a pause makes no wait longer by
// more than that. FULT_MPI_POLL_PAUSE, in microseconds, is the maximum; 0: no pauses.
class pause_length {
  public:
    // `activity`: another number than before means that something has happened since. For one thread at a
    // time.
    std::int64_t next(unsigned long activity) noexcept;
    // Time since something has happened, at the last call of next.
    std::int64_t quiet_for() const noexcept { return quiet_; }

    static std::int64_t longest() noexcept;
    static std::int64_t now() noexcept; // of the steady clock

  private:
    unsigned long seen_ = ~0ul;
    std::int64_t since_ = 0;
    std::int64_t quiet_ = 0;
};

// Whether this host has more workers of the job than processors.
bool is_crowded() noexcept;
// Gives the processor up now and then if so.
void yield_if_crowded() noexcept;

} // namespace fult::mpi
