// Two kernel threads without any runtime: the reference of everything that crosses workers.
#pragma once

#include <functional>
#include <vector>

namespace bench {

// The processors that this process may use, in ascending order. Asked before a runtime binds the main thread.
std::vector<int> usable_processors();

// Runs the function once on each of so many threads (bound to the first processors that are usable) and
// returns the seconds from the moment when all were ready until the last was done.
double on_threads(unsigned threads, const std::function<void(unsigned)> &function);

// Nanoseconds that a store takes to reach a thread on the other processor that spins on it: half a round trip
// of two flags, each on its own cache line.
double flag_ping_pong_ns(unsigned long round_trips);

// Work that takes the same number of instructions each time, so many milliseconds of them when it is alone on
// this machine.
class busy_work {
  public:
    explicit busy_work(double milliseconds); // measures the machine's speed once
    void operator()() const noexcept;

  private:
    unsigned long steps_;
};

} // namespace bench
