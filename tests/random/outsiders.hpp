// Threads that do not know when a runtime begins or ends.
#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "program.hpp"

namespace random_programs {

// Some threads that spawn, join, wait for a group, set, signal and look. Each of their calls meets the
// runtime or is refused because there is none, and nothing that was not refused is lost. They wait for `go`,
// which is called just before a runtime begins or ends, and they end by themselves: their tasks, which the
// end of the runtime waits for, need no other thread.
class outsiders {
  public:
    outsiders(program &in, std::uint64_t seed); // how many, too, is drawn; perhaps none
    ~outsiders();
    outsiders(const outsiders &) = delete;
    outsiders &operator=(const outsiders &) = delete;

    void go() noexcept;

  private:
    std::atomic<unsigned> ready_{0};
    std::atomic<bool> gone_{false};
    std::vector<std::thread> threads_;
};

} // namespace random_programs
