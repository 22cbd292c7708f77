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

    // A wait in steps, for a thread that polls meanwhile (fult/scheduler/thread_waits.hpp). Between
    // begin_sleep, which returns false after a post, and end_sleep it is asleep, at the bell, or awake again:
    // by a post, or by unpark. Those that return bool return false, and change nothing, if it was not as they
    // require.
    bool begin_sleep(std::uint32_t prepared) noexcept { return change(prepared, prepared | asleep); }
    void end_sleep() noexcept {
        posts_.fetch_and(~(asleep | at_bell), std::memory_order_acq_rel); // pairs with post
    }
    bool is_asleep(std::uint32_t prepared) const noexcept {
        return posts_.load(std::memory_order_acquire) == (prepared | asleep); // pairs with post
    }
    void sleep(std::uint32_t prepared) noexcept; // while is_asleep
    bool begin_sleep_at_bell(std::uint32_t prepared) noexcept {
        return change(prepared | asleep, prepared | at_bell);
    }
    void end_sleep_at_bell(std::uint32_t prepared) noexcept { change(prepared | at_bell, prepared | asleep); }
    // Called by another thread: wakes it without a post.
    bool unpark(std::uint32_t prepared) noexcept;

    // Must be called before wait_with. Returns false if no descriptor is available. The bell belongs to a
    // runtime, which closes it when no thread waits any more; between two runtimes there is none.
    static bool open_bell() noexcept;
    static void close_bell() noexcept;
    static void forget_bell() noexcept; // in the child of a fork
    // Ends the wait_with of any parker, if there is a bell. From any thread.
    static void ring() noexcept;

    // Wakes the thread. Does not touch the parker once the waiter can see the post, except for its address in
    // the system call.
    void post() noexcept;

  private:
    static constexpr std::uint32_t at_bell = 1; // the thread sleeps on descriptors
    static constexpr std::uint32_t asleep = 2;  // or on this word; a post without either needs no system call
    static constexpr std::uint32_t one_post = 4;
    static_assert((at_bell | asleep) < one_post, "posts are counted above the flags");

    bool change(std::uint32_t from, std::uint32_t to) noexcept {
        return posts_.compare_exchange_strong(from, to, std::memory_order_seq_cst); // pairs with post, unpark
    }
    std::atomic<std::uint32_t> posts_{0};
};

} // namespace fult::detail
