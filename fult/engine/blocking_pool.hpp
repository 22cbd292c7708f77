// Kernel threads for calls that block: one per concurrent call, up to a limit; further calls wait in a queue.
// Idle threads end after a while.
#pragma once

#include <atomic>
#include <cstdint>

#include "fult/base/spin_lock.hpp"
#include "fult/scheduler/parker.hpp"

namespace fult::detail {

// Lives on the stack of the waiting task.
struct blocking_request {
    // Either run and then finish are called, once, on one thread of the pool; or refuse. The pool does not
    // touch the request after finish or refuse: it ends the wait of the task.
    void (*run)(blocking_request &) noexcept = nullptr;
    void (*finish)(blocking_request &) noexcept = nullptr; // the task-local values of the call have ended
    // it was queued, but no thread could be started
    void (*refuse)(blocking_request &, int error) noexcept = nullptr;
    blocking_request *next = nullptr;
};

[[noreturn]] void throw_no_thread(int error); // throws std::system_error

// For how long a thread stays without a call; a test sets it before the first call.
inline int idle_thread_milliseconds = 10'000;

class blocking_pool {
  public:
    // `idle` counts the threads of this pool that run no call.
    blocking_pool(unsigned limit, std::atomic<unsigned> &idle) noexcept : limit_(limit), idle_count_(idle) {}
    blocking_pool(const blocking_pool &) = delete;
    blocking_pool &operator=(const blocking_pool &) = delete;
    ~blocking_pool() { stop(); }

    // Runs the request on a thread of its own: at once (true), or when a thread is free (false). In the
    // second case it may be refused later, on the thread of another submit. Throws std::system_error if there
    // is no thread and none can be started.
    bool submit(blocking_request &request);

    // Ends the threads; when it returns, they no longer touch any memory of the program. No request is left.
    void stop() noexcept;

    // Warns once, with the remedy, if a request that was submitted long ago has not begun.
    void report_if_waiting(const blocking_request &request) noexcept;

    unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
    // True if any call is blocked.
    bool busy() noexcept;

  private:
    struct idle_thread {
        parker sleep;
        blocking_request *request = nullptr;
        bool end_requested = false;
        idle_thread *next_idle = nullptr;
    };

    bool handle_failed_start(blocking_request &request, int error);
    bool start_thread(blocking_request &first) noexcept;
    void serve(blocking_request *first) noexcept;
    blocking_request *next_request(idle_thread &me) noexcept;
    bool assign_or_queue(blocking_request &request) noexcept;
    blocking_request *take_queue() noexcept;
    void remove_idle(const idle_thread &me) noexcept;

    const unsigned limit_;
    spin_lock lock_;
    // Last in, first out: that thread's stack is in the cache, and the others time out.
    idle_thread *idle_ = nullptr;
    std::atomic<unsigned> &idle_count_; // changes under the lock
    blocking_request *first_ = nullptr; // the queue
    blocking_request *last_ = nullptr;
    std::atomic<unsigned> threads_{0}; // changes under the lock
    bool stopping_ = false;
    bool reported_ = false; // since the queue was last empty
};

} // namespace fult::detail
