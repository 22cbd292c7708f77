#include "topology.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <hwloc.h>
#include <map>
#include <memory>
#include <system_error>

#include "fult/base/affinity_mask.hpp"
#include "fult/base/processor_quota.hpp"
#include "fult/base/worker_bits.hpp"

namespace fult::detail {
namespace {

// The machine does not change, and discovering it takes milliseconds: once per process. The affinity mask is
// read each time.
hwloc_topology_t the_machine() {
    static hwloc_topology *const machine = [] {
        hwloc_topology_t made;
        if (hwloc_topology_init(&made) != 0)
            throw std::system_error(errno, std::generic_category(), "fult: hwloc_topology_init");
        hwloc_topology_set_type_filter(made, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
        if (hwloc_topology_load(made) != 0) {
            const int error = errno;
            hwloc_topology_destroy(made);
            throw std::system_error(error, std::generic_category(), "fult: hwloc_topology_load");
        }
        return made;
    }();
    return machine;
}

} // namespace

struct topology::hardware {
    hwloc_topology_t machine = the_machine();
    hwloc_cpuset_t allowed = hwloc_bitmap_alloc();
    std::vector<hwloc_obj_t> processing_units; // the first unit of each core comes before the second of any

    explicit hardware(const std::vector<unsigned> &processors) {
        for (const unsigned each : processors)
            hwloc_bitmap_set(allowed, each);
        collect();
    }
    ~hardware() { hwloc_bitmap_free(allowed); }
    hardware(const hardware &) = delete;
    hardware &operator=(const hardware &) = delete;

  private:
    void collect() {
        // by the number of preceding units of the same core
        std::map<unsigned, std::vector<hwloc_obj_t>> by_rank;
        std::map<hwloc_obj_t, unsigned> seen;
        hwloc_obj_t unit = nullptr;
        while ((unit = hwloc_get_next_obj_by_type(machine, HWLOC_OBJ_PU, unit))) {
            if (!hwloc_bitmap_isset(allowed, unit->os_index))
                continue;
            hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(machine, HWLOC_OBJ_CORE, unit);
            by_rank[seen[core ? core : unit]++].push_back(unit);
        }
        for (const auto &[rank, units] : by_rank)
            processing_units.insert(processing_units.end(), units.begin(), units.end());
    }
};

topology::topology() : processors_(affinity_mask()) {
    usable_ = std::max(static_cast<unsigned>(processors_.size()), 1u);
    if (const unsigned bound = processor_quota(); bound != 0 && bound < usable_)
        usable_ = bound;
}

topology::~topology() = default;

const topology::hardware &topology::load() const {
    std::call_once(once_, [this] { hardware_ = std::make_unique<hardware>(processors_); });
    return *hardware_;
}

binding_facts topology::binding_facts_of(const options &opts) const {
    const auto processors = static_cast<unsigned>(processors_.size());
    const unsigned workers = opts.workers != 0 ? opts.workers : std::min(usable_, worker_bits::capacity);
    const auto has_all = [&] {
        return processors ==
               static_cast<unsigned>(std::max(hwloc_get_nbobjs_by_type(load().machine, HWLOC_OBJ_PU), 0));
    };
    // The number of all matters only for a mask that the workers fill. Where they are bound, hwloc looks now:
    // later it could not fail well.
    const bool may_bind =
        opts.bind == bind_mode::on || (opts.bind == bind_mode::automatic && workers == processors);
    return {opts.bind, workers, processors, usable_, may_bind && has_all(), ranks_on_this_host()};
}

bool topology::bind(unsigned index, unsigned) const {
    const hardware &here = load();
    if (here.processing_units.empty())
        return false;
    hwloc_obj_t place = here.processing_units[index % here.processing_units.size()];
    return hwloc_set_cpubind(here.machine, place->cpuset, HWLOC_CPUBIND_THREAD) == 0;
}

void topology::unbind() const { hwloc_set_cpubind(load().machine, load().allowed, HWLOC_CPUBIND_THREAD); }

std::vector<std::vector<unsigned>> topology::neighbours(unsigned index, unsigned count) const {
    const hardware &here = load();
    std::map<int, std::vector<unsigned>> by_depth; // a deeper common ancestor is nearer
    for (unsigned other = 0; other < count; ++other) {
        if (other == index)
            continue;
        int depth = 0;
        if (!here.processing_units.empty()) {
            hwloc_obj_t a = here.processing_units[index % here.processing_units.size()];
            hwloc_obj_t b = here.processing_units[other % here.processing_units.size()];
            depth = hwloc_get_common_ancestor_obj(here.machine, a, b)->depth;
        }
        by_depth[-depth].push_back(other);
    }
    std::vector<std::vector<unsigned>> groups;
    groups.reserve(by_depth.size());
    for (auto &[depth, workers] : by_depth)
        groups.push_back(std::move(workers));
    return groups;
}

namespace {
hwloc_obj_type_t type_of(processor_level level, hwloc_topology_t machine) {
    switch (level) {
    case processor_level::thread:
        return HWLOC_OBJ_PU;
    case processor_level::core:
        return HWLOC_OBJ_CORE;
    case processor_level::last_cache:
        for (const hwloc_obj_type_t cache :
             {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE})
            if (hwloc_get_nbobjs_by_type(machine, cache) > 0)
                return cache;
        return HWLOC_OBJ_CORE;
    case processor_level::numa_node:
        return HWLOC_OBJ_NUMANODE;
    case processor_level::package:
        return HWLOC_OBJ_PACKAGE;
    }
    return HWLOC_OBJ_MACHINE;
}
} // namespace

std::vector<std::vector<unsigned>> topology::groups(processor_level level) const {
    const hardware &here = load();
    hwloc_obj_type_t type = type_of(level, here.machine);
    // Virtual machines may not describe their cores.
    if (hwloc_get_nbobjs_by_type(here.machine, type) <= 0)
        type = level == processor_level::core ? HWLOC_OBJ_PU : HWLOC_OBJ_MACHINE;
    std::vector<std::vector<unsigned>> groups;
    hwloc_obj_t part = nullptr;
    while ((part = hwloc_get_next_obj_by_type(here.machine, type, part))) {
        std::vector<unsigned> group;
        unsigned processor = 0;
        hwloc_bitmap_foreach_begin(processor, part->cpuset) if (hwloc_bitmap_isset(here.allowed, processor))
            group.push_back(processor);
        hwloc_bitmap_foreach_end();
        if (!group.empty())
            groups.push_back(std::move(group));
    }
    return groups;
}

std::vector<std::vector<unsigned>> processor_groups(processor_level level) {
    return topology().groups(level);
}

std::string topology::describe() const {
    const auto count = [machine = load().machine](hwloc_obj_type_t type) {
        return hwloc_get_nbobjs_by_type(machine, type);
    };
    char text[160];
    std::snprintf(text, sizeof text,
                  "%d package(s), %d NUMA node(s), %d core(s), %d processing unit(s), %u usable",
                  count(HWLOC_OBJ_PACKAGE), count(HWLOC_OBJ_NUMANODE), count(HWLOC_OBJ_CORE),
                  count(HWLOC_OBJ_PU), usable_);
    return text;
}

} // namespace fult::detail
