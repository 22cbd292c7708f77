// What a random program must keep: each task runs once, what is checked holds, and something moves all the
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace random_programs {

// Ends the process: prints what is wrong, the running program with its seed, and all tasks.
[[noreturn]] void fail(const char *format, ...) noexcept __attribute__((format(printf, 1, 2)));

// What fail prints: how to repeat the program that runs now.
void announce(const std::string &how_to_repeat);

template <class... A> void check(bool holds, const char *format, A... values) noexcept {
    if (!holds) [[unlikely]] {
        if constexpr (sizeof...(A) == 0)
            fail("%s", format);
        else
            fail(format, values...);
    }
}

// Something has ended that counts as progress: an act, a task. Waiting and yielding do not.
void moved() noexcept;
std::uint64_t moves() noexcept;

// Fails if nothing moves for this number of seconds. One thread a process; it starts with the object and ends
// with it.
class watchdog {
  public:
    explicit watchdog(unsigned seconds);
    ~watchdog();
    watchdog(const watchdog &) = delete;
    watchdog &operator=(const watchdog &) = delete;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

// The tasks of one program, by number.
class ledger {
  public:
    using ticket = std::uint32_t;
    static constexpr std::uint32_t most = 1u << 18;

    ledger() : entries_(new std::atomic<std::uint8_t>[most]()) {}

    // For a task that is about to be spawned. may_drop: a stop may keep it from running.
    ticket issue(bool may_drop = false) noexcept;
    void cancel(ticket t) noexcept; // it could not be spawned
    void runs(ticket t) noexcept;   // by the task, when it begins
    bool is_full() const noexcept { return issued_.load(std::memory_order_relaxed) > most / 2; }
    std::uint32_t issued() const noexcept { return issued_.load(std::memory_order_relaxed); }
    void close() const noexcept; // after the runtime's end

  private:
    enum : std::uint8_t { unused, expected, optional, has_run, cancelled };
    std::unique_ptr<std::atomic<std::uint8_t>[]> entries_;
    std::atomic<std::uint32_t> issued_{0};
};

} // namespace random_programs
