#include <cstdlib>
#include <gtest/gtest.h>
#include <initializer_list>
#include <sched.h>

#include <fult/runtime.hpp>

#include "fult/scheduler/binding.hpp"

namespace {

using fult::bind_mode;
using fult::detail::binding_facts;
using fult::detail::decide_binding;

constexpr binding_facts machine_of_four{bind_mode::automatic, 4, 4, 4, true, 1};

binding_facts four(void (*change)(binding_facts &)) {
    binding_facts facts = machine_of_four;
    change(facts);
    return facts;
}

TEST(binding, a_worker_for_each_processor_is_bound) {
    EXPECT_TRUE(decide_binding(machine_of_four).bind);
    EXPECT_EQ(decide_binding(machine_of_four).reason, "4 workers on 4 processors");
    EXPECT_TRUE(decide_binding({bind_mode::automatic, 1, 1, 1, false, 4}).bind) << "a share of a launcher";
}

TEST(binding, fewer_workers_are_not_bound_unless_asked) {
    const auto facts = four([](binding_facts &f) { f.workers = 1; });
    EXPECT_FALSE(decide_binding(facts).bind);
    EXPECT_EQ(decide_binding(facts).reason,
              "1 worker on 4 processors: others may use the same; FULT_BIND=on binds");
    EXPECT_TRUE(decide_binding(four([](binding_facts &f) {
                    f.workers = 1;
                    f.asked = bind_mode::on;
                })).bind);
}

TEST(binding, more_workers_are_never_bound) {
    for (const bind_mode asked : {bind_mode::automatic, bind_mode::on}) {
        binding_facts facts = machine_of_four;
        facts.asked = asked;
        facts.workers = 5;
        EXPECT_FALSE(decide_binding(facts).bind);
        facts.workers = 4;
        facts.usable = 2;
        EXPECT_FALSE(decide_binding(facts).bind);
        EXPECT_EQ(decide_binding(facts).reason, "4 workers with a quota of 2 processors");
    }
}

TEST(binding, a_quota_leaves_the_processors_to_others) {
    EXPECT_FALSE(decide_binding(four([](binding_facts &f) { f.workers = f.usable = 2; })).bind);
}

TEST(binding, off_is_off) {
    EXPECT_FALSE(decide_binding(four([](binding_facts &f) { f.asked = bind_mode::off; })).bind);
}

TEST(binding, ranks_that_all_have_the_machine_are_not_bound) {
    const auto two_ranks = four([](binding_facts &f) { f.ranks_here = 2; });
    EXPECT_FALSE(decide_binding(two_ranks).bind);
    EXPECT_NE(decide_binding(two_ranks).reason.find("2 ranks here"), std::string::npos);
}

// The variables of all launchers, unset.
class launchers : public ::testing::Test {
  protected:
    static constexpr const char *variables[] = {"FULT_RUN_SIZE", "MPI_LOCALNRANKS",
                                                "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"};
    launchers() {
        for (const char *each : variables)
            ::unsetenv(each);
    }
    ~launchers() override {
        for (const char *each : variables)
            ::unsetenv(each);
    }
};

TEST_F(launchers, say_how_many_ranks_a_host_has) {
    using fult::detail::ranks_on_this_host;
    EXPECT_EQ(ranks_on_this_host(), 1u);
    ::setenv("SLURM_STEP_TASKS_PER_NODE", "1,3(x2),2", 1);
    EXPECT_EQ(ranks_on_this_host(), 3u);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "5", 1);
    EXPECT_EQ(ranks_on_this_host(), 5u);
    ::setenv("MPI_LOCALNRANKS", "1", 1);
    EXPECT_EQ(ranks_on_this_host(), 1u);
    ::setenv("FULT_RUN_SIZE", "nonsense", 1);
    EXPECT_EQ(ranks_on_this_host(), 1u);
}

cpu_set_t allowed_to_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
    return set;
}

TEST_F(launchers, one_worker_of_several_processors_keeps_them_all) {
    const cpu_set_t before = allowed_to_this_thread();
    if (CPU_COUNT(&before) < 2)
        GTEST_SKIP() << "one processor";
    fult::options o;
    o.workers = 1;
    const fult::runtime running(o);
    EXPECT_EQ(running.effective_options().bind, bind_mode::off);
    const cpu_set_t now = allowed_to_this_thread();
    EXPECT_TRUE(CPU_EQUAL(&before, &now));
}

TEST_F(launchers, one_worker_is_bound_on_request) {
    fult::options o;
    o.workers = 1;
    o.bind = bind_mode::on;
    const fult::runtime running(o);
    EXPECT_EQ(running.effective_options().bind, bind_mode::on);
    const cpu_set_t now = allowed_to_this_thread();
    EXPECT_EQ(CPU_COUNT(&now), 1);
}

} // namespace
