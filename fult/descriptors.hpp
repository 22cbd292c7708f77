// The descriptors that tasks wait for: an epoll instance, polled and slept for like every service.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/service.hpp>
#include <fult/sync/waiter.hpp>

#include "spin_lock.hpp"
#include "timer_queue.hpp"

namespace fult::detail {

struct team;

class descriptors final : public service {
  public:
    static descriptors &the() noexcept; // one for the process: descriptors outlive runtimes

    // Before a task waits. Throws std::system_error.
    void open(team &crew);

    enum class outcome { ready, closed, limits_reached };
    // The caller, a task, waits. Throws std::system_error.
    outcome wait(int descriptor, bool writing, const wait_limits &limits);
    int close(int descriptor) noexcept;

    // service
    bool poll() noexcept override;
    bool prepare_sleep() noexcept override;
    void end_sleep() noexcept override {}
    int descriptor() const noexcept override {
        return rests_until_ != timer_queue::never ? -1 : epoll_.load();
    }
    int patience() const noexcept override { return -1; }
    std::int64_t deadline() const noexcept override { return rests_until_; }
    bool expects() const noexcept override { return waiting_.load(std::memory_order_relaxed) != 0; }

  private:
    struct state { // of a descriptor
        short_lock lock;
        wait_list readers, writers;
        bool known = false; // to the epoll instance, unless it was closed meanwhile
    };
    static constexpr unsigned chunk_size = 256, chunks = 16384;

    descriptors() = default;
    ~descriptors() = default;
    state &state_of(int descriptor);
    state *known_state_of(int descriptor) const noexcept;
    int watch(state &of, int descriptor) noexcept;
    void take(state &from, int descriptor, unsigned events, wait_chain &into) noexcept;
    bool look() noexcept;
    bool is_left_to_others() const noexcept;

    std::atomic<int> epoll_{-1};
    spin_lock opening_;
    alignas(cache_line) std::atomic<unsigned> waiting_{0}; // tasks, in queues
    std::atomic<bool> looking_{false};                     // somebody takes events
    std::atomic<std::int64_t> looked_{0};                  // when a worker between two tasks did last
    std::int64_t rests_until_ = timer_queue::never;        // the watcher leaves it to others until then
    alignas(cache_line) std::atomic<state *> chunks_[chunks]{};
};

} // namespace fult::detail
