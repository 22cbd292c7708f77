// Where a team keeps the shares of its constructs: a ring, in which a construct has the place of its number.
// A member that runs so far ahead that the place is still in use gets a share beyond the ring. Model:
// tests/model/work_ring.pml.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace fult::omp {

struct work_share;

class work_ring {
  public:
    static constexpr unsigned length = 16;
    // In work_share::left, above the count: a later construct of this place may have a share beyond the ring,
    // or this is such a share. Its last member looks before it passes the place on.
    static constexpr unsigned marked = 1u << 31;

    work_ring();
    ~work_ring();
    work_ring(const work_ring &) = delete;
    work_ring &operator=(const work_ring &) = delete;

    work_share &place_of(std::uint64_t construct) const noexcept;
    // The share of a construct whose place has the turn of another one. By a member of `size` that has left
    // all constructs before. Waits for a few instructions of others at most.
    work_share &share_beyond(std::uint64_t construct, unsigned size);
    // By the last member that leaves a marked share, which holds nothing any more.
    void end_marked(work_share &w) noexcept;
    // No member is in a construct: the next one is the first.
    void reset() noexcept;

  private:
    work_share *find(std::uint64_t construct, unsigned size);

    std::unique_ptr<work_share[]> places_;
    std::mutex mutex_;                                                      // for all below
    std::unordered_map<std::uint64_t, std::unique_ptr<work_share>> beyond_; // by construct
    std::uint64_t latest_[length] = {}; // by place: the latest construct that has been in beyond_
};

} // namespace fult::omp
