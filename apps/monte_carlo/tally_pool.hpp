// Tallies of tasks: one for each that tracks at a moment, no more than there are workers.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <fult/sync/spinlock.hpp>

#include "tally.hpp"

namespace monte_carlo {

class tally_pool {
  public:
    // A tally that no other task has. Its owner does not suspend meanwhile, so that few are needed.
    class lease {
      public:
        explicit lease(tally_pool &from) : from_(from), held_(from.take()) {}
        lease(const lease &) = delete;
        lease &operator=(const lease &) = delete;
        ~lease() { from_.give_back(std::move(held_)); }
        tally &operator*() const { return *held_; }

      private:
        tally_pool &from_;
        std::unique_ptr<tally> held_;
    };

    // The sum of all. No lease exists.
    tally sum() const {
        tally all;
        for (const auto &each : free_)
            all += *each;
        return all;
    }

  private:
    std::unique_ptr<tally> take() {
        {
            const std::lock_guard lock(guard_);
            if (!free_.empty()) {
                std::unique_ptr<tally> last = std::move(free_.back());
                free_.pop_back();
                return last;
            }
            free_.reserve(++made_); // to give back without a failure
        }
        return std::make_unique<tally>();
    }
    void give_back(std::unique_ptr<tally> one) {
        const std::lock_guard lock(guard_);
        free_.push_back(std::move(one));
    }

    fult::spinlock guard_;
    std::vector<std::unique_ptr<tally>> free_;
    std::size_t made_ = 0;
};

} // namespace monte_carlo
