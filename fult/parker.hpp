// Puts a kernel thread to sleep until another wakes it (futex).
#pragma once

#include <atomic>
#include <cstdint>

namespace fult::detail {

class alignas(8) parker { // so that a pointer to it has room for a tag
  public:
    // What to hand to wait: a post after this call makes that wait return at once.
    std::uint32_t prepare() const noexcept { return posts_.load(std::memory_order_acquire); }

    // Blocks the thread until there was a post after prepare, or for some time where milliseconds >= 0.
    void wait(std::uint32_t prepared, int milliseconds = -1) noexcept;

    // Wakes the thread. Touches the parker no more once the waiter can see the post, except for the address
    // in the system call.
    void post() noexcept;

  private:
    std::atomic<std::uint32_t> posts_{0};
};

} // namespace fult::detail
