// The lock under which MPI is entered, with the queue of operations that wait to be started.
//
// One word: free, locked, or locked with the newest operation of the queue. A caller that finds it locked
// leaves its operation there; the holder cannot unlock without seeing it. So no operation is forgotten, and
// no caller of a blocking call waits for the lock.
#pragma once

#include <atomic>
#include <cstdint>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

namespace fult::mpi {

class operation;

class entry_lock {
  public:
    // Acquires the lock, or leaves the operation to its holder: false.
    bool lock_or_push(operation &op) noexcept;
    // Waits for the lock. Does not suspend.
    void lock() noexcept {
        if (!try_lock())
            lock_slowly();
    }
    // For a poll: fails too if a thread waits in lock(), which would find no gap between polls.
    bool try_lock_to_poll() noexcept { return waiting_.load(std::memory_order_relaxed) == 0 && try_lock(); }
    // Unlocks if the queue is empty: null. Otherwise remains locked and returns the queue, the oldest first.
    operation *unlock_or_take() noexcept;

    // By the holder: another thread waits for it, or has left an operation.
    bool is_wanted() const noexcept {
        return word_.load(std::memory_order_relaxed) != locked ||
               waiting_.load(std::memory_order_relaxed) != 0;
    }

    // The calling thread holds it: it is in a function of the program that MPI has called.
    bool is_held_here() const noexcept {
        return owner_.load(std::memory_order_relaxed) == fult::detail::this_thread();
    }

  private:
    static constexpr std::uintptr_t unlocked = 0, locked = 1;

    bool try_lock() noexcept {
        std::uintptr_t seen = unlocked;
        if (word_.load(std::memory_order_relaxed) != unlocked ||
            !word_.compare_exchange_strong(seen, locked,
                                           std::memory_order_acquire, // pairs with unlock_or_take
                                           std::memory_order_relaxed))
            return false;
        own();
        return true;
    }
    void own() noexcept {
        FULT_ASSERT(owner_.load(std::memory_order_relaxed) == nullptr);
        owner_.store(fult::detail::this_thread(), std::memory_order_relaxed);
    }
    void lock_slowly() noexcept;

    alignas(fult::detail::cache_line) std::atomic<std::uintptr_t> word_{unlocked};
    std::atomic<const void *> owner_{nullptr}; // a kernel thread
    std::atomic<unsigned> waiting_{0};         // threads in lock()
};

} // namespace fult::mpi
