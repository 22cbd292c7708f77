// Stacks: reserved in slabs, made usable as they are needed, reused while hot, given back to the system above
// a cap.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include <fult/options.hpp>

#include "fult/base/spin_lock.hpp"
#include "stack.hpp"

namespace fult::detail {

struct stack_settings {
    std::size_t size; // of an ordinary stack, without its guard
    std::size_t kept; // number of idle stacks that stay resident permanently
    guard_mode guard;
    // milliseconds for which surplus stacks stay resident; 0: those beyond `kept` are discarded at once
    unsigned trim_after = 0;
    bool joins_in_place = true;     // a join may run an unstarted task on its caller's stack
    std::size_t other_mappings = 0; // of the runtime
};

// All stacks of a runtime. Thread-safe.
class stack_pool {
  public:
    explicit stack_pool(const stack_settings &settings);
    ~stack_pool();
    stack_pool(const stack_pool &) = delete;
    stack_pool &operator=(const stack_pool &) = delete;

    std::size_t ordinary_size() const noexcept { return settings_.size; } // without the guard
    bool is_ordinary(const stack &s) const noexcept { return s.size == settings_.size + guard_; }
    // Bytes below each stack that fault; 0: none are wanted. More than the frames of most functions: what
    // jumps over them changes the stack below. An even number of pages, as ordinary stacks have an odd one,
    // with and without their guard.
    std::size_t guard_size() const noexcept { return guard_; }

    // A chain (by next) of up to `count` ordinary stacks; nullptr if memory cannot be allocated.
    stack *acquire(std::size_t count) noexcept;
    // A chain of as many as a worker needs soon: up to 8, but not more than an eighth of those that exist,
    // unless they are idle and resident.
    stack *acquire_some() noexcept;
    // Takes a chain back. Stacks beyond settings.kept give their memory back to the system: at once if
    // trim_after is 0, else when they were not used for that time, so that waves of suspended tasks reuse
    // them.
    void release(stack *chain) noexcept;

    // One stack of another size; nullptr if memory cannot be allocated. The few that were released last stay
    // mapped, and their topmost part resident, until a trim.
    stack *acquire_sized(std::size_t bytes) noexcept;
    void release_sized(stack *s) noexcept;

    // Gives back the memory of all but a few idle stacks.
    void trim() noexcept;

    // The kind of guards in use, and the number of ordinary stacks that were ever in use.
    const char *guard_name() const noexcept;
    std::size_t mapped() const noexcept;
    std::size_t resident_idle() const noexcept;

  private:
    static constexpr std::size_t slab_stacks = 64;
    struct slab {
        std::byte *begin;
        std::size_t bytes;
    };

    bool reserve_slab() noexcept;
    bool make_more_usable() noexcept;
    stack *take(std::size_t count) noexcept;
    // Holds between calls, under the lock. Each ordinary stack is in use, hot or cold; `cold_` has room for
    // all of them.
    bool is_consistent() const noexcept {
        return min_hot_ <= hot_count_ && (hot_ != nullptr) == (hot_count_ != 0) &&
               hot_count_ + cold_.size() <= mapped_ && cold_.capacity() >= mapped_ &&
               sized_count_ <= max_sized;
    }
    stack *prepare(std::byte *base, std::size_t bytes) noexcept;
    void show_to_leak_sanitizer(stack &s) noexcept;
    void forget(const stack &s) noexcept;
    void protect(stack &s) noexcept;
    stack *pop_hot() noexcept;
    stack *take_kept_sized(std::size_t bytes) noexcept;
    stack *take_sized_at(std::size_t i) noexcept;
    void unmap_sized(stack *s) noexcept;
    void unmap_kept_sized() noexcept;
    void discard(stack *s) noexcept;
    void keep_hot(std::size_t most) noexcept;
    void trim_surplus() noexcept;

    stack_settings settings_;
    const std::size_t guard_;
    std::size_t max_hot_; // resident idle stacks at any time
    mutable spin_lock lock_;
    stack *hot_ = nullptr; // resident
    std::size_t hot_count_ = 0;
    std::size_t min_hot_ = 0; // minimum of hot_count_ since
    std::chrono::steady_clock::time_point last_trim_ = std::chrono::steady_clock::now();
    std::size_t surplus_ = 0;       // stacks to discard, as of last_trim_
    std::vector<std::byte *> cold_; // bases of stacks whose memory was given back or never touched
    std::vector<slab> slabs_;
    // Of the last slab, the part that was never usable.
    std::byte *fresh_ = nullptr;
    std::byte *fresh_end_ = nullptr;
    static constexpr std::size_t max_sized = 16;
    stack *sized_[max_sized]{}; // idle, oldest first
    std::size_t sized_count_ = 0;
    std::size_t mapped_ = 0;
    std::size_t split_budget_; // number of further mprotect guards that the kernel's limit on mappings allows
    bool madvise_guards_;
    std::atomic<std::size_t> leak_roots_{0}; // stacks in all, if there is LeakSanitizer
    bool warned_ = false;
};

} // namespace fult::detail
