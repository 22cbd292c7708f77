// The ranks of an endpoint that is not the whole job, and their numbers in the job.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

class member_table {
  public:
    // in_job[rank]: the number in the job of that member; each occurs once. Throws std::bad_alloc.
    explicit member_table(std::vector<int> in_job) : in_job_(std::move(in_job)), sorted_(in_job_.size()) {
        std::iota(sorted_.begin(), sorted_.end(), 0);
        std::sort(sorted_.begin(), sorted_.end(), [&](int a, int b) { return world(a) < world(b); });
    }

    int size() const noexcept { return static_cast<int>(in_job_.size()); }
    int world(int rank) const noexcept {
        FULT_ASSERT(rank >= 0 && rank < size());
        return in_job_[static_cast<std::size_t>(rank)];
    }
    // The member with that number in the job; -1 if there is none.
    int find(int world_rank) const noexcept {
        const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), world_rank,
                                         [&](int member, int wanted) { return world(member) < wanted; });
        return at != sorted_.end() && world(*at) == world_rank ? *at : -1;
    }
    const std::vector<int> &in_job() const noexcept { return in_job_; }

  private:
    std::vector<int> in_job_;
    std::vector<int> sorted_; // the members by their numbers in the job
};

} // namespace fult::comm::detail
