// The other workers that a worker looks at one by one, in groups by distance, nearest first. None if stealing
// is disabled.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "fult/base/random.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {

class worker;

class neighbours {
  public:
    // At most so many. Of the other homes of a larger team, hints show which may have tasks (crowd.hpp). A
    // test sets it before the runtime starts.
    static inline unsigned max_neighbours = 64;
    // Of those that the runtime gets later, where hints do not show them: a search is longer then.
    static constexpr unsigned room_appended = 192;
    static inline unsigned max_appended = room_appended;

    explicit neighbours(unsigned seed) noexcept : random_(seed) {}
    void add_group(std::vector<worker *> group) { groups_.push_back(std::move(group)); }
    // A worker that the runtime gets while it runs. Not by two threads at once; the owner may be searching.
    void append(worker &other) noexcept {
        const unsigned before = appended_count_.load(std::memory_order_relaxed);
        FULT_ASSERT(before < appended_.size());
        appended_[before] = &other;
        appended_count_.store(before + 1, std::memory_order_release); // pairs with appended
    }

    // True once is(other) is true, nearest first.
    template <class Is> bool any(const Is &is) const noexcept {
        for (const auto &group : groups_)
            for (worker *other : group)
                if (is(*other))
                    return true;
        for (worker *other : appended())
            if (is(*other))
                return true;
        return false;
    }
    template <class Each> void for_each(const Each &each) const noexcept {
        static_cast<void>(any([&](worker &other) {
            each(other);
            return false;
        }));
    }
    // The first task that take(other) returns; within a group the start is random.
    template <class Take> task *find(const Take &take) noexcept {
        for (const auto &group : groups_)
            if (task *t = find_in(group, take))
                return t;
        return find_in(appended(), take);
    }

  private:
    template <class Take> task *find_in(std::span<worker *const> group, const Take &take) noexcept {
        const auto size = static_cast<std::uint32_t>(group.size());
        const std::uint32_t start = size != 0 ? random_.below(size) : 0;
        for (std::uint32_t i = 0; i < size; ++i)
            if (task *t = take(*group[(start + i) % size]))
                return t;
        return nullptr;
    }
    std::span<worker *const> appended() const noexcept {
        return {appended_.data(), appended_count_.load(std::memory_order_acquire)}; // pairs with append
    }

    std::vector<std::vector<worker *>> groups_;
    std::array<worker *, room_appended> appended_{};
    std::atomic<unsigned> appended_count_{0};
    random_source random_;
};

} // namespace fult::detail
