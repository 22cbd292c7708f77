// Idle workers poll MPI, and sleep between polls: the engine as a service of the runtime.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/service.hpp>
#include <fult/detail/waiter.hpp>

#include "engine.hpp"
#include "pause.hpp"

namespace fult::mpi {

class progress_service final : public fult::detail::service {
  public:
    explicit progress_service(engine &of) noexcept : engine_(of) {}

    // By a task: the running runtime polls MPI from now on. False: it has no place for it, or no descriptor.
    bool ensure_added() noexcept {
        return added_.load(std::memory_order_acquire) || add(); // pairs with add
    }
    // Before the end of MPI. By a task or a foreign thread.
    void remove() noexcept;

    bool poll() noexcept override;
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override;
    int descriptor() const noexcept override { return wake_; }
    int patience() const noexcept override { return -1; }
    std::int64_t deadline() const noexcept override { return until_; }
    bool expects() const noexcept override { return engine_.under_way() != 0; }
    void end() noexcept override { added_.store(false, std::memory_order_release); }

    // By the engine, after an operation has been put under way: a watcher that sleeps without limit is woken.
    void wake_sleeper() noexcept {
        if (in_long_sleep_.load(std::memory_order_seq_cst)) [[unlikely]] // pairs with prepare_sleep
            wake();
    }

  private:
    bool add() noexcept;
    void wake() noexcept;
    void report_silence() noexcept;

    engine &engine_;
    std::atomic<bool> added_{false};
    std::atomic<bool> in_long_sleep_{false};
    int wake_ = -1; // an eventfd
    fult::detail::spin_lock adding_;
    // of the watcher
    pause_length pauses_;
    std::int64_t until_ = 0;
    bool reported_ = false;
};

progress_service &the_progress_service() noexcept;

} // namespace fult::mpi
