// Memory and threads that the system refuses to the runtime now and then.
#pragma once

#include <cstdint>
#include <thread>
#include <utility>

namespace random_programs {

// From now on mmap fails after one call in `maps` on average, pthread_create after one in `threads`, and
// guard pages after one in `guards`, some calls in a row. By the seed; 0: never. Sanitizers of clang do not
// allow it: then nothing fails.
void refuse_now_and_then(std::uint64_t seed, unsigned maps, unsigned threads, unsigned guards) noexcept;
// How many calls have failed since.
long refusals() noexcept;

// While it lives, the next allocation of the calling thread by operator new fails. Nothing in its scope may
// suspend.
class refused_allocation {
  public:
    refused_allocation() noexcept;
    ~refused_allocation();
    refused_allocation(const refused_allocation &) = delete;
    refused_allocation &operator=(const refused_allocation &) = delete;
};

// While it lives, threads that the calling thread starts are not refused, nor is its memory.
class spared {
  public:
    spared() noexcept;
    ~spared();
    spared(const spared &) = delete;
    spared &operator=(const spared &) = delete;

  private:
    bool before_;
};

// A thread of the program itself, which it always gets.
template <class Body> std::thread start_thread(Body &&body) {
    const spared meanwhile;
    return std::thread(std::forward<Body>(body));
}

} // namespace random_programs
