// The core: one thread at a time is in MPI, and acts for all tasks and threads of the process.
//
// A blocking call becomes an operation. Its caller starts it if the entry_lock is free, and tests it for
// about the time of a round trip, without leaving MPI if no other thread has anything to do there; then a
// task suspends, and a foreign thread goes on polling with growing pauses. Whichever thread has the lock (a
// caller, an idle worker by the progress_service) starts what waits to be started, tests some of what is
// under way, and grants the waits of what is complete.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fult/detail/waiter.hpp>

#include "entry_lock.hpp"
#include "operation.hpp"
#include "pause.hpp"
#include "request_table.hpp"
#include "statistics.hpp"
#include "tested_operations.hpp"

namespace fult::mpi {

class engine {
  public:
    engine() noexcept = default;
    engine(const engine &) = delete;
    engine &operator=(const engine &) = delete;

    // Returns the error code of the complete operation. May suspend, unless MPI has called the caller.
    int run(operation &op) noexcept;

    // Starts an operation that no caller waits for: it is notified when it is complete, possibly before this
    // returns. Does not suspend.
    void run_unattended(operation &op) noexcept;

    // Locks MPI for a call that does not wait for other ranks. Below a function of the program that MPI has
    // called, the thread has the lock already.
    class entry {
      public:
        explicit entry(engine &of) noexcept : of_(of), nested_(of.lock_.is_held_here()) {
            if (!nested_)
                of_.lock_.lock();
        }
        ~entry() {
            if (!nested_)
                of_.leave();
        }
        entry(const entry &) = delete;
        entry &operator=(const entry &) = delete;

      private:
        engine &of_;
        const bool nested_;
    };
    bool is_inside_mpi() const noexcept { return lock_.is_held_here(); }

    // Starts and tests once, unless another thread does. True if an operation became complete. Does not
    // suspend.
    bool poll() noexcept;
    // The same for idle workers: not while a caller polls.
    bool poll_if_unattended() noexcept { return attended_.load(std::memory_order_relaxed) == 0 && poll(); }
    // Operations under way, and how many have ever been started or completed: a different number means that
    // the rank is active.
    unsigned under_way() const noexcept {
        return under_way_.load(std::memory_order_seq_cst);
    } // pairs with begin
    unsigned long activity() const noexcept { return activity_.load(std::memory_order_relaxed); }

    // For the next pause between polls, see pause_length: none while the rank has windows, since operations
    // of other ranks on these may need its polls.
    std::int64_t next_pause(pause_length &pauses) const noexcept {
        const std::int64_t pause = pauses.next(activity());
        return windows_.load(std::memory_order_relaxed) != 0 ? 0 : pause;
    }
    // After a window was made (1) or freed (-1).
    void count_window(int difference) noexcept {
        [[maybe_unused]] const int before = windows_.fetch_add(difference, std::memory_order_relaxed);
        FULT_ASSERT(before + difference >= 0, "a window is freed once");
    }

    // For a report: the rank, and which ranks the operations under way need. Locks MPI.
    void describe_silence(int &rank, char *text, std::size_t size) noexcept;

    // At the end of MPI.
    statistics &counters() noexcept { return counters_; }

    // MPI may return errors to the program.
    void errors_may_return() noexcept {
        const entry here(*this);
        requests_.errors_may_return();
    }

  private:
    bool begin(operation &op) noexcept;
    bool test_one(operation &op) noexcept;
    bool test_while_alone(operation &op) noexcept;
    bool start_testing(operation &op) noexcept;
    void leave() noexcept;
    void leave(completed_operations &complete) noexcept;
    bool test_parts(operation &op) noexcept;
    void test(completed_operations &complete) noexcept;
    int finish_inside(operation &op) noexcept;
    void wait(operation &op) noexcept;
    bool poll_until_complete(operation &op) noexcept;
    void wait_suspended(operation &op) noexcept;
    void wait_on_thread(operation &op) noexcept;
    void count_end(unsigned ended) noexcept;

    entry_lock lock_;
    request_table requests_; // under the lock, with the next
    tested_operations tested_;
    statistics counters_;
    std::atomic<unsigned> under_way_{0}; // written under the lock
    std::atomic<unsigned long> activity_{0};
    std::atomic<unsigned> attended_{0}; // callers that poll
    std::atomic<int> windows_{0};
};

// Of the process.
engine &the_engine() noexcept;

} // namespace fult::mpi
