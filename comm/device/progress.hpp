// Progress: whichever thread polls the device, its parts do what has become possible. Also the sleep of that
// thread, and the waits of tasks for operations of the device.
#pragma once

#include <atomic>

#include <fult/detail/completion.hpp>
#include <fult/detail/service.hpp>
#include <fult/detail/waiter.hpp>
#include <fult/this_task.hpp>

#include "comm/device/receive_path.hpp"
#include "comm/protocol/operation.hpp"
#include "comm/protocol/probe.hpp"

namespace fult::comm::detail {

class progress_engine final : public fult::detail::service {
  public:
    progress_engine(protocol_core &core, deliveries &fetches, arrivals &messages, one_sided &accesses,
                    receive_path &receives) noexcept
        : core_(core),
          deliveries_(fetches),
          arrivals_(messages),
          one_sided_(accesses),
          receive_path_(receives) {}

    // Any thread --------------------------------------------------------------------------------------------------

    // Makes progress once, unless another thread does so now. Returns true if anything happened.
    bool progress() noexcept;
    // The same, for calls that are likely to be repeated until they succeed. Never suspends.
    void progress_or_yield() noexcept {
        if (!progress())
            fult::detail::yield_if_processors_shared();
    }
    // The same, for those that another task must make succeed: now and then lets other tasks run. May
    // suspend, except where nothing may: in a handler, and below a callback of this device.
    void progress_fairly() noexcept;
    // Makes progress until done() returns true, for a short time and only while nothing else is ready.
    template <class Done> void progress_until(Done done) noexcept {
        if (fult::detail::others_ready()) // they run first; their messages go out with the gathered ones
            return;
        if (in_task()) {
            fult::detail::poller poll;
            while (poll.step())
                for (unsigned i = 0; i < polls_per_step; ++i) {
                    progress();
                    if (done())
                        return;
                }
        } else {
            for (unsigned i = 0; i < polls_of_thread; ++i) {
                progress_or_yield();
                if (done())
                    return;
            }
        }
    }
    // Waits for the grant; makes progress while nothing else is ready. May suspend.
    void wait(fult::detail::waiter &w, const fult::detail::waiting_for &wait = {}) noexcept;
    // The same for ends that are outstanding.
    void wait(fult::detail::completion &ends, const fult::detail::waiting_for &wait) noexcept;
    // Both for the end of an operation, which reports describe.
    template <class End> void wait(End &end, const operation &op) noexcept { wait(end, end_of(op)); }
    // Yields, or waits briefly, while something is expected. May suspend.
    void pause() noexcept;

    // Lets those ranks go on that wait for memory here.
    void resume_senders() noexcept;
    // Both send gathered messages. is_flushed: true if nothing of this rank is in flight, except messages
    // that wait here for their receives; is_idle: including those.
    bool is_flushed() noexcept;
    bool is_idle() noexcept;

    // For the deadlock watch: none of it counts as progress, and a thread that sleeps for the device is not
    // woken.
    device_traffic read_traffic() noexcept;
    // Locks the device for a moment, and leaves no work behind.
    template <class F> auto inspect(F f) noexcept {
        const inspection hold(*this);
        return f();
    }

    // service -----------------------------------------------------------------------------------------------------
    bool poll() noexcept override;
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override { core_.sleep.end(); }
    int descriptor() const noexcept override { return core_.sleep.descriptor(); }
    int patience() const noexcept override { return core_.sleep.patience(); }
    bool is_judged() const noexcept override { return core_.probes.has_listener(); }
    // For the progress thread, before end_sleep: its sleep timed out.
    void count_timeout() noexcept;

  private:
    enum class poll_result { nothing, something, callbacks_run };
    poll_result poll_once() noexcept;

    static constexpr unsigned polls_per_step = 4, polls_of_thread = 200; // polls before a sleep

    class inspection {
      public:
        explicit inspection(progress_engine &of) noexcept : of_(of) {
            of_.inspections_.fetch_add(
                1, std::memory_order_relaxed); // before the lock: pairs with lock_to_sleep
            of_.core_.mutex.lock();
        }
        ~inspection() {
            of_.core_.mutex.unlock();
            of_.inspections_.fetch_sub(1, std::memory_order_relaxed);
        }
        inspection(const inspection &) = delete;
        inspection &operator=(const inspection &) = delete;

      private:
        progress_engine &of_;
    };

    template <class Done> bool wait_awake(Done done) noexcept;
    static fult::detail::waiting_for end_of(const operation &op) noexcept;
    bool lock_to_sleep() noexcept;
    bool transports_may_sleep() noexcept;
    // Under the lock:
    bool poll_transports() noexcept;
    void check_flow() noexcept;
    void retry_for_room() noexcept;
    bool is_flushed_locked() noexcept;
    // True if something waits for packets or queue space, the availability of which is not signaled.
    bool needs_room() const noexcept;
    // For assertions: the marks of core_.waiting agree with what the parts keep.
    bool all_are_marked() const noexcept;
    // The same for memory.
    bool needs_memory() const noexcept;

    protocol_core &core_;
    deliveries &deliveries_;
    arrivals &arrivals_;
    one_sided &one_sided_;
    receive_path &receive_path_;
    std::atomic<unsigned> inspections_{0}; // threads that hold the lock to inspect, or are about to
};

} // namespace fult::comm::detail
