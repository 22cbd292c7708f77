// The machine as hwloc sees it, within this process's affinity mask. The only user of hwloc. hwloc takes some
// milliseconds to look at a machine, and does so at the first call that needs it: none of a runtime whose
// workers are not bound.
#pragma once

#include <memory>
#include <mutex>
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
    binding_facts binding_facts_of(const options &opts) const;

    // Binds the calling thread to the processing unit of worker `index` of `count`: a core of its own while
    // there are enough. Returns false if the system refuses; the thread then stays unbound.
    bool bind(unsigned index, unsigned count) const;

    // Restores the affinity that the process had at the start.
    void unbind() const;

    // For a bound worker the others in groups of equal distance, nearest first (shared cache, NUMA node, the
    // rest).
    std::vector<std::vector<unsigned>> neighbours(unsigned index, unsigned count) const;

    // The processors of this process's mask, by the part of the machine at this level.
    std::vector<std::vector<unsigned>> groups(processor_level level) const;

    // True once hwloc has looked at the machine. For tests, on one thread.
    bool is_loaded() const noexcept { return hardware_ != nullptr; }

    // "1 package, 2 cores, 2 processing units, ..."
    std::string describe() const;

  private:
    struct hardware;
    const hardware &load() const; // throws std::system_error

    std::vector<unsigned> processors_; // of the mask, at the start
    unsigned usable_ = 1;
    mutable std::once_flag once_;
    mutable std::unique_ptr<hardware> hardware_;
};

} // namespace fult::detail
