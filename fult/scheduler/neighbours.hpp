// The other workers that a worker looks at one by one, in groups by distance, nearest first. None if stealing
// is disabled.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "fult/base/random.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {

class worker;

class neighbours {
  public:
    // At most so many. Of the other homes of a larger team, hints show which may have tasks (crowd.hpp). A
    // test sets it before the runtime starts.
    static inline unsigned most = 64;

    explicit neighbours(unsigned seed) noexcept : random_(seed) {}
    void add_group(std::vector<worker *> group) { groups_.push_back(std::move(group)); }

    // True once is(other) is true, nearest first.
    template <class Is> bool any(const Is &is) const noexcept {
        for (const auto &group : groups_)
            for (worker *other : group)
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
        for (const auto &group : groups_) {
            const auto size = static_cast<std::uint32_t>(group.size());
            const std::uint32_t start = random_.below(size);
            for (std::uint32_t i = 0; i < size; ++i)
                if (task *t = take(*group[(start + i) % size]))
                    return t;
        }
        return nullptr;
    }

  private:
    std::vector<std::vector<worker *>> groups_;
    random_source random_;
};

} // namespace fult::detail
