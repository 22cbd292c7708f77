// Puts a kernel thread to sleep until another wakes it (futex).
#pragma once

#include <atomic>
#include <cstdint>

struct pollfd;

namespace fult::detail {

class alignas(8) parker { // so that a pointer to it has room for a tag
  public:
    // What to hand to wait: a post after this call makes that wait return at once.
    std::uint32_t prepare() const noexcept { return posts_.load(std::memory_order_acquire); }

    // Whether there was a post after prepare.
    bool posted(std::uint32_t prepared) const noexcept {
        return posts_.load(std::memory_order_acquire) != prepared; // pairs with post
    }

    // Blocks the thread until there was a post after prepare, or for some time where milliseconds >= 0.
    void wait(std::uint32_t prepared, int milliseconds = -1) noexcept;
    // Spins for about a microsecond first, for posts that are likely to come soon.
    void spin_and_wait(std::uint32_t prepared) noexcept;

    // The same, for some nanoseconds where that is >= 0; one of the descriptors that becomes readable ends it
    // too. One parker of the process at a time; the first of `descriptors` is left for the bell, by which a
    // post is heard then.
    void wait_with(std::uint32_t prepared, pollfd *descriptors, unsigned count,
                   std::int64_t nanoseconds) noexcept;

    // Makes wait_with possible; false: no descriptor could be had.
    static bool open_bell() noexcept;
    // Ends a wait_with of whichever parker.
    static void ring() noexcept;

    // Wakes the thread. Touches the parker no more once the waiter can see the post, except for the address
    // in the system call.
    void post() noexcept;

  private:
    static constexpr std::uint32_t at_bell = 1; // the thread sleeps on descriptors
    static constexpr std::uint32_t asleep = 2;  // or on this word; a post without either needs no system call
    static constexpr std::uint32_t one_post = 4;
    std::atomic<std::uint32_t> posts_{0};
};

} // namespace fult::detail
