// A thread outside the runtime that waits in OpenMP polls services, as in any other wait. Compiled by gcc
// with -fopenmp, run with two workers: one is blocked in a call that the runtime does not know, and the other
// one computes until the service has been polled. So only the thread that waits can do it.
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <thread>

#include <fult/detail/service.hpp>

namespace {

// Has one event. It has no descriptor: a thread that waits for all polls it again and again.
class event_service final : public fult::detail::service {
  public:
    bool poll() noexcept override { return pending.exchange(false) && !polled.exchange(true); }
    bool prepare_sleep() noexcept override { return !pending; }
    void end_sleep() noexcept override {}
    int descriptor() const noexcept override { return -1; }
    int patience() const noexcept override { return 1; }

    std::atomic<bool> pending{false}, polled{false};
};

void until(const std::atomic<bool> &flag) {
    while (!flag.load())
        ::sched_yield();
}

// For a worker.
struct computation {
    event_service events;
    std::atomic<bool> begun{false};
    void run() {
        begun = true;
        until(events.polled);
    }
};

// `wait_for` is called on a thread outside the runtime.
void a_waiting_thread_polls(const std::function<void(computation &)> &wait_for) {
    computation c;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
        until(c.events.polled);
    } else {
        fult::detail::add_service(c.events);
        std::thread outside([&] { wait_for(c); });
        until(c.begun);
        c.events.pending = true;
        outside.join();
        fult::detail::remove_service(c.events);
    }
    EXPECT_TRUE(c.events.polled);
}

TEST(openmp_waits_outside_the_runtime, poll_at_the_end_of_a_region) {
    a_waiting_thread_polls([](computation &c) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1)
            c.run();
    });
}

TEST(openmp_waits_outside_the_runtime, poll_at_a_barrier) {
    a_waiting_thread_polls([](computation &c) {
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1)
                c.run();
#pragma omp barrier
        }
    });
}

TEST(openmp_waits_outside_the_runtime, poll_in_taskwait) {
    a_waiting_thread_polls([](computation &c) {
#pragma omp parallel num_threads(2)
#pragma omp master
        {
#pragma omp task
            c.run();
            until(c.begun); // by the other thread of the team
#pragma omp taskwait
            EXPECT_TRUE(c.events.polled);
        }
    });
}

TEST(openmp_waits_outside_the_runtime, poll_for_a_lock) {
    a_waiting_thread_polls([](computation &c) {
        omp_lock_t lock;
        omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
        {
            if (omp_get_thread_num() == 1) {
                omp_set_lock(&lock);
                c.run();
            } else {
                until(c.begun);
                omp_set_lock(&lock);
                EXPECT_TRUE(c.events.polled);
            }
            omp_unset_lock(&lock);
        }
        omp_destroy_lock(&lock);
    });
}

} // namespace
