// The walk of docs/life-of-an-openmp-task.md, step by step: what each leaves in the tasks, the nodes and the
// counter of the parent. Compiled by gcc with -fopenmp.
#include <atomic>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include "omp/core/depend.hpp"
#include "omp/core/dependence_table.hpp"
#include "omp/core/omp_task.hpp"
#include "omp/core/tasks.hpp"
#include "omp/core/team.hpp"

namespace {

using namespace fult::omp;
using fult::detail::current_worker;
using fult::detail::task;

dependence_node *node_of(const omp_task *f) { return f->more->node; }
bool is_private(const task *t) {
    return fult::detail::is_set(
        *fult::detail::ready_byte_at(current_worker(), fult::detail::distance_in_slots(current_worker(), t)));
}

// First in the program: no other worker has been started yet.
TEST(life_of_an_openmp_task, when_no_other_thread_takes_it) {
    int x = 0, y = 0;
#pragma omp parallel num_threads(1)
    {
        omp_task *const me = current_task();
        task *const slot = current_worker()->run.next;
        EXPECT_TRUE(me->has(is_implicit));
        EXPECT_EQ(me->base.live, 0);

        // generated: in the storage of the next slot, which only this worker knows
        omp_task *first = nullptr;
#pragma omp task depend(out : x) shared(x, first, me)
        {
            EXPECT_EQ(current_worker()->current, slot) << "on the stack of the task that waits";
            EXPECT_EQ(current_task(), first);
            EXPECT_EQ(first->at, me->at);
            EXPECT_EQ(me->base.live, 2 * one_task) << "its end is not counted yet";
            x = 6;
        }
        EXPECT_EQ(current_worker()->run.next, slot + 1);
        EXPECT_TRUE(is_private(slot));
        first = stored_omp_task(slot);
        EXPECT_EQ(first->parent, me);
        EXPECT_EQ(first->counted_in, &me->base);
        EXPECT_EQ(me->base.live, one_task);
        EXPECT_TRUE(has_dependent_children(me));
        EXPECT_EQ(node_of(first)->of, first);
        EXPECT_EQ(node_of(first)->waits_for, 0);
        EXPECT_EQ(node_of(first)->successors, 0u);

        // its successor: it has no slot yet
#pragma omp task depend(in : x) shared(x, y, me)
        {
            EXPECT_EQ(current_worker()->current, slot + 1) << "submitted when the first had its slot still";
            EXPECT_EQ(me->base.live, one_task);
            y = 7 * x;
        }
        EXPECT_EQ(current_worker()->run.next, slot + 1);
        EXPECT_EQ(me->base.live, 2 * one_task);
        EXPECT_EQ(node_of(first)->successors, 1u);
        if (node_of(first)->successors == 1) {
            const dependence_node *const second = node_of(first)->first[0];
            EXPECT_EQ(second->waits_for, 1);
            EXPECT_EQ(second->of->parent, me);
        }
        EXPECT_EQ(x, 0) << "none has started";

#pragma omp taskwait
        EXPECT_EQ(y, 42);
        EXPECT_EQ(current_task(), me);
        EXPECT_EQ(me->base.outstanding(), 0);
        EXPECT_TRUE(me->base.has_ended());
    }
}

void poll(const std::atomic<bool> &flag) {
    while (!flag.load(std::memory_order_acquire))
        ::sched_yield();
}

TEST(life_of_an_openmp_task, when_another_thread_takes_it) {
    int x = 0, y = 0;
    std::atomic<bool> started{false}, go{false};
#pragma omp parallel num_threads(2)
#pragma omp single
    {
        omp_task *const me = current_task();
        const int thread = omp_get_thread_num();
        omp_task *first = nullptr;
#pragma omp task depend(out : x) shared(x, first, me, thread, started, go)
        {
            first = current_task();
            EXPECT_NE(omp_get_thread_num(), thread);
            EXPECT_NE(first->at, me->at);
            EXPECT_TRUE(is_here(first->at));
            EXPECT_EQ(first->parent, me);
            started.store(true, std::memory_order_release);
            poll(go);
            x = 6;
        }
        poll(started); // this thread runs no task: the other one does
        EXPECT_EQ(node_of(first)->waits_for, 0);
        EXPECT_FALSE(node_of(first)->is_done());

#pragma omp task depend(in : x) shared(x, y)
        y = 7 * x;
        EXPECT_EQ(node_of(first)->successors, 1u);
        EXPECT_EQ(node_of(first)->first[0]->waits_for, 1);
        EXPECT_EQ(me->base.outstanding(), 2 * one_task);
        EXPECT_EQ(me->base.mode, wait_mode::counting);

        go.store(true, std::memory_order_release);
#pragma omp taskwait
        EXPECT_EQ(y, 42);
        EXPECT_EQ(current_task(), me);
        EXPECT_TRUE(is_here(me->at)) << "a tied task resumes on its thread";
        EXPECT_EQ(me->base.mode, wait_mode::counting);
        EXPECT_TRUE(me->base.has_ended());
    }
}

} // namespace
