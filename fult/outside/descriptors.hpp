// The descriptors that tasks wait for: an epoll instance, polled and watched like every service.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/descriptor.hpp>
#include <fult/detail/service.hpp>
#include <fult/detail/waiter.hpp>

#include "fult/base/spin_lock.hpp"
#include "fult/scheduler/timer_queue.hpp"

struct epoll_event;

namespace fult::detail {

struct worker_team;

class descriptors final : public service {
  public:
    static descriptors &instance() noexcept; // one for the process: descriptors outlive runtimes

    // Must be called before a task waits. Throws std::system_error.
    void open(worker_team &team);

    // Suspends the calling task. timed_out: the limits were reached. Throws std::system_error.
    descriptor_status wait(int descriptor, bool writing, const wait_limits &limits);
    int close(int descriptor) noexcept;

    // service
    bool poll() noexcept override;
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override {}
    int descriptor() const noexcept override {
        return skipping_until_ != timer_queue::never ? -1 : epoll_.load();
    }
    int patience() const noexcept override { return -1; }
    std::int64_t deadline() const noexcept override { return skipping_until_; }
    bool expects() const noexcept override { return waiting_.load(std::memory_order_relaxed) != 0; }
    void end() noexcept override { close_instance(); }

  private:
    struct state { // per descriptor
        spin_lock lock;
        wait_list readers, writers;
        bool known = false;      // by the epoll instance, unless closed in the meantime
        std::uint32_t armed = 0; // number of the last event armed: one of an earlier number is void
    };
    static constexpr unsigned chunk_size = 256, chunks = 16384;

    descriptors() = default;
    ~descriptors() = default;
    state &state_of(int descriptor);
    state *known_state_of(int descriptor) const noexcept;
    void close_instance() noexcept; // it belongs to one runtime
    int watch(state &of, int descriptor) noexcept;
    enum : std::uintptr_t { is_ready, is_closed }; // tags of waiters that are granted
    void end_waits(wait_list &list, std::uintptr_t tag, wait_chain &into) noexcept;
    void take(state &from, const epoll_event &event, wait_chain &into) noexcept;
    bool poll_events() noexcept;
    bool is_left_to_others() const noexcept;

    std::atomic<int> epoll_{-1};
    spin_lock opening_;
    alignas(cache_line) std::atomic<unsigned> waiting_{0}; // tasks, in queues
    std::atomic<bool> polling_{false};                     // a thread is taking events
    std::atomic<std::int64_t> last_poll_{0};               // time of the last poll by a busy worker
    std::int64_t skipping_until_ = timer_queue::never;     // the watcher leaves polling to others until then
    alignas(cache_line) std::atomic<state *> chunks_[chunks]{};
};

} // namespace fult::detail
