#include "common/raw_threads.hpp"

#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <thread>

#include "common/clock.hpp"

namespace bench {
namespace {
std::vector<int> read_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set))
                found.push_back(i);
    return found;
}
const std::vector<int> at_start = read_processors(); // before main: nothing is bound yet

void bind(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void steps(unsigned long count) noexcept {
    unsigned long x = count;
    for (unsigned long i = 0; i < count; ++i) {
        x = x * 6364136223846793005ul + 1442695040888963407ul;
        keep(x);
    }
}

double steps_in_a_millisecond() {
    double best = 0; // the fastest: a disturbance only slows down
    for (int i = 0; i < 20; ++i) {
        constexpr unsigned long count = 1'000'000;
        best = std::max(best, count / (timed([] { steps(count); }) * 1e3));
    }
    return best;
}
} // namespace

std::vector<int> usable_processors() { return at_start; }

double on_threads(unsigned threads, const std::function<void(unsigned)> &function) {
    if (at_start.size() < threads)
        throw std::runtime_error("this needs " + std::to_string(threads) + " processors, and there are " +
                                 std::to_string(at_start.size()));
    std::atomic<unsigned> ready{0};
    std::vector<double> begins(threads), ends(threads);
    std::vector<std::thread> running;
    for (unsigned i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            bind(at_start[i]);
            ready.fetch_add(1, std::memory_order_acq_rel);
            while (ready.load(std::memory_order_acquire) < threads)
                relax();
            begins[i] = now();
            function(i);
            ends[i] = now();
        });
    for (std::thread &each : running)
        each.join();
    return *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
}

double flag_ping_pong_ns(unsigned long round_trips) {
    struct alignas(128) flag {
        std::atomic<unsigned long> value{0};
    };
    flag flags[2];
    const double seconds = on_threads(2, [&](unsigned i) {
        for (unsigned long k = 1; k <= round_trips; ++k) {
            if (i == 0)
                flags[0].value.store(k, std::memory_order_release);
            while (flags[1 - i].value.load(std::memory_order_acquire) < k) {
            }
            if (i == 1)
                flags[1].value.store(k, std::memory_order_release);
        }
    });
    return seconds * 1e9 / double(round_trips) / 2;
}

busy_work::busy_work(double milliseconds) {
    static const double speed = steps_in_a_millisecond();
    steps_ = static_cast<unsigned long>(speed * milliseconds);
}

void busy_work::operator()() const noexcept { steps(steps_); }

} // namespace bench
