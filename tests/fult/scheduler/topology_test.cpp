#include <algorithm>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <vector>

#include "fult/scheduler/topology.hpp"

namespace {

using fult::detail::topology;

int cpus_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}

TEST(topology, as_many_as_the_affinity_mask_allows) {
    const topology machine;
    EXPECT_GE(machine.usable(), 1u);
    EXPECT_LE(machine.usable(), static_cast<unsigned>(cpus_of_this_thread()));
}

TEST(topology, a_narrow_mask_is_respected) {
    cpu_set_t before, one;
    CPU_ZERO(&before);
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    int last = 0;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        last = CPU_ISSET(i, &before) ? i : last;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    {
        const topology machine;
        EXPECT_EQ(machine.usable(), 1u);
        EXPECT_TRUE(machine.bind(0, 1));
        EXPECT_EQ(::sched_getcpu(), last);
        machine.unbind();
        EXPECT_EQ(cpus_of_this_thread(), 1);
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}

TEST(topology, binding_and_unbinding) {
    const topology machine;
    const int before = cpus_of_this_thread();
    for (unsigned i = 0; i < machine.usable(); ++i) {
        ASSERT_TRUE(machine.bind(i, machine.usable()));
        EXPECT_EQ(cpus_of_this_thread(), 1);
    }
    machine.unbind();
    EXPECT_EQ(cpus_of_this_thread(), before);
}

TEST(topology, groups_of_each_level_have_every_processor_once) {
    using fult::detail::processor_level;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    ASSERT_EQ(::sched_getaffinity(0, sizeof mask, &mask), 0);
    std::set<unsigned> all;
    for (unsigned i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &mask))
            all.insert(i);
    std::size_t finer = all.size();
    for (const processor_level level :
         {processor_level::thread, processor_level::core, processor_level::last_cache}) {
        std::multiset<unsigned> seen;
        const auto groups = fult::detail::processor_groups(level);
        for (const std::vector<unsigned> &group : groups) {
            EXPECT_FALSE(group.empty());
            seen.insert(group.begin(), group.end());
        }
        EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin(), all.end()));
        EXPECT_LE(groups.size(), finer) << "a coarser level has no more groups";
        finer = groups.size();
    }
    EXPECT_EQ(fult::detail::processor_groups(processor_level::thread).size(), all.size());
    EXPECT_FALSE(fult::detail::processor_groups(processor_level::numa_node).empty());
    EXPECT_FALSE(fult::detail::processor_groups(processor_level::package).empty());
}

TEST(topology, neighbours_are_all_the_others_once) {
    const topology machine;
    for (const unsigned count : {1u, 2u, 7u})
        for (unsigned i = 0; i < count; ++i) {
            std::multiset<unsigned> others, expected;
            for (const auto &group : machine.neighbours(i, count)) {
                EXPECT_FALSE(group.empty());
                others.insert(group.begin(), group.end());
            }
            for (unsigned j = 0; j < count; ++j)
                if (j != i)
                    expected.insert(j);
            EXPECT_EQ(others, expected);
        }
}

// That takes milliseconds.
TEST(topology, hwloc_looks_only_where_workers_may_be_bound) {
    const topology machine;
    fult::options asked;
    asked.bind = fult::bind_mode::off;
    EXPECT_GE(machine.binding_facts_of(asked).usable, 1u);
    asked.bind = fult::bind_mode::automatic;
    asked.workers = machine.usable() + 1;
    EXPECT_EQ(machine.binding_facts_of(asked).workers, machine.usable() + 1);
    EXPECT_FALSE(machine.is_loaded());
    asked.bind = fult::bind_mode::on;
    EXPECT_EQ(machine.binding_facts_of(asked).asked, fult::bind_mode::on);
    EXPECT_TRUE(machine.is_loaded());
}

TEST(topology, says_what_it_sees) { EXPECT_NE(topology().describe().find("usable"), std::string::npos); }

} // namespace
