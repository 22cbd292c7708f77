// The machine as hwloc sees it, within this process's affinity mask. The only user of hwloc.
#pragma once

#include <string>
#include <vector>

namespace fult::detail {

class topology {
  public:
    topology(); // throws std::system_error
    ~topology();
    topology(const topology &) = delete;
    topology &operator=(const topology &) = delete;

    // Processors that this process may use, less what a cgroup's quota takes away; at least 1.
    unsigned usable() const noexcept { return usable_; }

    // Binds the calling thread to the place of worker `index` of `count`: a core of its own while there are
    // enough. False where the system refuses; the thread then runs where it likes.
    bool bind(unsigned index, unsigned count) const noexcept;

    // Lets the calling thread run again wherever the process was allowed to at the start.
    void unbind() const noexcept;

    // For each worker the others, nearest first, in groups of equal distance (shared cache, NUMA node, the
    // rest).
    std::vector<std::vector<unsigned>> neighbours(unsigned index, unsigned count) const;

    // "1 package, 2 cores, 2 processing units, ..."
    std::string describe() const;

  private:
    struct impl;
    impl *impl_;
    unsigned usable_ = 1;
};

} // namespace fult::detail
