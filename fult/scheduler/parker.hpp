// Parks a kernel thread until another thread unparks it (futex).
#pragma once

#include <atomic>
#include <cstdint>

struct pollfd;

namespace fult::detail {

class alignas(8) parker { // so that a pointer to it has room for a tag
  public:
    // The argument for wait: a post after this call makes that wait return at once.
    std::uint32_t prepare() const noexcept { return posts_.load(std::memory_order_acquire); }

    // True if there was a post after prepare.
    bool posted(std::uint32_t prepared) const noexcept {
        return posts_.load(std::memory_order_acquire) != prepared; // pairs with post
    }

    // Blocks the thread until there was a post after prepare, or until the time is over if milliseconds >= 0.
    void wait(std::uint32_t prepared, int milliseconds = -1) noexcept;

    // The same, with a limit if nanoseconds >= 0; a descriptor that becomes readable also ends it. Used by
    // one parker of the process at a time. The first of `descriptors` is reserved for the bell, which a post
    // rings during this wait.
    void wait_with(std::uint32_t prepared, pollfd *descriptors, unsigned count,
                   std::int64_t nanoseconds) noexcept;

    // Must be called before wait_with. Returns false if no descriptor is available.
    static bool open_bell() noexcept;
    // Ends the wait_with of any parker.
    static void ring() noexcept;

    // Wakes the thread. Does not touch the parker once the waiter can see the post, except for its address in
    // the system call.
    void post() noexcept;

  private:
    static constexpr std::uint32_t at_bell = 1; // the thread sleeps on descriptors
    static constexpr std::uint32_t asleep = 2;  // or on this word; a post without either needs no system call
    static constexpr std::uint32_t one_post = 4;
    static_assert((at_bell | asleep) < one_post, "posts are counted above the flags");
    std::atomic<std::uint32_t> posts_{0};
};

} // namespace fult::detail
