// What the layer has done, printed at MPI_Finalize with FULT_MPI_STATS=on.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/waiter.hpp>

namespace fult::mpi {

class statistics {
  public:
    // Under the entry_lock.
    void count_operation() noexcept { ++operations_; }
    void count_poll() noexcept { ++polls_; }

    // By any thread: an operation was not complete after its caller's polls.
    void count_wait() noexcept { waits_.fetch_add(1, std::memory_order_relaxed); }

    // Measures one wait while it lives, if it is to be printed.
    class wait_time {
      public:
        wait_time(statistics &in, const char *call) noexcept;
        ~wait_time();
        wait_time(const wait_time &) = delete;
        wait_time &operator=(const wait_time &) = delete;

      private:
        statistics &in_;
        const char *call_;
        std::int64_t begin_;
    };

    // To standard error. Under the entry_lock.
    void print(int rank) noexcept;
    static bool is_wanted() noexcept;

  private:
    void add(const char *call, std::int64_t duration) noexcept;

    unsigned long operations_ = 0, polls_ = 0;
    std::atomic<unsigned long> waits_{0};
    fult::detail::spin_lock adding_; // of the next two
    std::int64_t longest_ = 0;       // nanoseconds
    const char *longest_call_ = nullptr;
};

} // namespace fult::mpi
