// Kernel threads for calls that block. As many as there are such calls at a time, up to a limit; more than
// that wait in a queue. Idle ones end after a while.
#pragma once

#include <atomic>
#include <cstdint>

#include "parker.hpp"
#include "spin_lock.hpp"

namespace fult::detail {

// Lies with whoever waits for it.
struct blocking_job {
    // Either is called once; the pool does not touch the job afterwards.
    void (*run)(blocking_job &) noexcept = nullptr;
    void (*refuse)(blocking_job &, int error) noexcept = nullptr; // it was queued, but no thread could be had
    blocking_job *next = nullptr;
};

[[noreturn]] void throw_no_thread(int error); // std::system_error

class blocking_pool {
  public:
    // In `idle` it counts those of its threads that run no call.
    blocking_pool(unsigned limit, std::atomic<unsigned> &idle) noexcept : limit_(limit), idle_count_(idle) {}
    blocking_pool(const blocking_pool &) = delete;
    blocking_pool &operator=(const blocking_pool &) = delete;
    ~blocking_pool() { stop(); }

    // The job runs on a thread of its own, at once, or when one is free: false. It may be refused then, by
    // the thread of another submit. Throws std::system_error where there is none and none can be started.
    bool submit(blocking_job &job);

    // Ends the threads, and returns when they touch nothing of the program any more. No job is left.
    void stop() noexcept;

    // Says once what is to be done, where a job that was submitted long ago has not begun.
    void report_if_waiting(const blocking_job &job) noexcept;

    unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
    // Whether some call blocks.
    bool busy() noexcept;

  private:
    struct seat { // of an idle thread
        parker sleep;
        blocking_job *job = nullptr;
        bool told = false; // to end
        seat *below = nullptr;
    };
    struct beginning {
        blocking_pool *pool;
        blocking_job *job;
    };

    bool submit_without(blocking_job &job, int error);
    static void *thread_main(void *argument) noexcept;
    bool start_thread(blocking_job &first) noexcept;
    void serve(blocking_job *first) noexcept;
    blocking_job *next_job(seat &me) noexcept;
    seat *give(blocking_job &job) noexcept;
    void put_in_queue(blocking_job &job) noexcept;
    blocking_job *take_queue() noexcept;
    void leave(const seat &me) noexcept;

    const unsigned limit_;
    spin_lock lock_;
    // Who came last leaves first: its stack is in the cache, and the others' time passes.
    seat *idle_ = nullptr;
    std::atomic<unsigned> &idle_count_; // changes under the lock
    blocking_job *first_ = nullptr;     // the queue
    blocking_job *last_ = nullptr;
    std::atomic<unsigned> threads_{0}; // changes under the lock
    bool stopping_ = false;
    bool reported_ = false; // since the queue was empty last
};

} // namespace fult::detail
