// A thread of the kernel's with a stack for tasks. std::thread cannot ask for that.
#pragma once

#include <cstddef>
#include <functional>
#include <pthread.h>

namespace fult::detail {

// Must be joined before its end.
class kernel_thread {
  public:
    // The stack and its guard have at least so many bytes, and as many as a thread's have by default. Throws
    // std::system_error.
    kernel_thread(std::size_t stack_size, std::size_t guard_size, std::function<void()> body);
    kernel_thread(kernel_thread &&) noexcept = default;
    kernel_thread &operator=(kernel_thread &&) noexcept = default;
    void join() noexcept { ::pthread_join(thread_, nullptr); }

  private:
    pthread_t thread_{};
};

} // namespace fult::detail
