// An eventfd that one thread closes while others may ring it: never is a number written to that the program
// uses again.
#pragma once

#include <atomic>
#include <cstdint>

namespace fult::detail {

// Closed, open, closed again, any number of times. Static: threads that ring it may come late.
class shared_bell {
  public:
    constexpr shared_bell() noexcept = default;
    shared_bell(const shared_bell &) = delete;
    shared_bell &operator=(const shared_bell &) = delete;

    // Opens it, unless it is open. flags: of eventfd(2). False with errno set if there is no descriptor. From
    // any thread.
    bool open(int flags) noexcept;
    bool is_open() const noexcept { return descriptor() >= 0; }
    int descriptor() const noexcept { return descriptor_.load(std::memory_order_acquire); } // -1: closed

    // Adds to its count. False if it is closed. From any thread and from signal handlers.
    bool ring(std::uint64_t count = 1) noexcept;

    // When it returns, no thread writes to the descriptor. One thread at a time; not beside open.
    void close() noexcept;

    // In the child of a fork: the descriptor belongs to the parent as well and is left alone.
    void forget() noexcept { descriptor_.store(-1, std::memory_order_relaxed); }

  private:
    std::atomic<int> descriptor_{-1};
    std::atomic<unsigned> ringing_{0}; // calls that may write to the descriptor
};

} // namespace fult::detail
