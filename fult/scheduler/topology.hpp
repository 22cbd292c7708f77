// The machine as hwloc sees it, within this process's affinity mask. The only user of hwloc.
#pragma once

#include <string>
#include <vector>

#include <fult/detail/processor_groups.hpp>

#include "binding.hpp"

namespace fult::detail {

class topology {
  public:
    topology(); // throws std::system_error
    ~topology();
    topology(const topology &) = delete;
    topology &operator=(const topology &) = delete;

    // Number of processors that this process may use, limited by a cgroup's quota; at least 1.
    unsigned usable() const noexcept { return usable_; }

    // What decides whether the workers of a runtime with these options are bound. Its `workers` are those of
    // the options, or as many as are usable.
    binding_facts binding_facts_of(const options &opts) const noexcept;

    // Binds the calling thread to the processing unit of worker `index` of `count`: a core of its own while
    // there are enough. Returns false if the system refuses; the thread then stays unbound.
    bool bind(unsigned index, unsigned count) const noexcept;

    // Restores the affinity that the process had at the start.
    void unbind() const noexcept;

    // For each worker the other workers in groups of equal distance, nearest first (shared cache, NUMA node,
    // the rest).
    std::vector<std::vector<unsigned>> neighbours(unsigned index, unsigned count) const;

    // The processors of this process's mask, by the part of the machine at this level.
    std::vector<std::vector<unsigned>> groups(processor_level level) const;

    // "1 package, 2 cores, 2 processing units, ..."
    std::string describe() const;

  private:
    struct impl;
    impl *impl_;
    unsigned usable_ = 1;
};

} // namespace fult::detail
