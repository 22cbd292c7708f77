// A few idle stacks of a worker, in front of the pool of all. What is not inline is in switch.cpp.
#pragma once

#include <fult/detail/assertion.hpp>
#include <fult/detail/layout.hpp>
#include <fult/detail/platform.hpp>

#include "fult/memory/stack.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {

struct worker_team;

class stack_cache {
  public:
    explicit stack_cache(worker_team &team) noexcept : team_(team) {}
    ~stack_cache() { trim(); }
    stack_cache(const stack_cache &) = delete;
    stack_cache &operator=(const stack_cache &) = delete;

    bool open() noexcept; // allocates the first one

    // A stack to start this task on; nullptr if none can be allocated: then the team is short of stacks.
    stack *take(const task *t) noexcept {
        if ((t->extras && t->extras->stack_size != 0) || !first_) [[unlikely]]
            return take_from_pool(t);
        return pop();
    }
    // The stack is idle; its context waits for the next task.
    FULT_NOINLINE void give(stack *s) noexcept; // finish_switch, inlined at each jump, calls it
    // Gives all to the pool, which decides how many it keeps.
    void trim() noexcept;

  private:
    stack *take_from_pool(const task *t) noexcept;
    stack *pop() noexcept {
        stack *s = first_;
        first_ = s->next;
        --count_;
        return s;
    }

    worker_team &team_;
    stack *first_ = nullptr;
    unsigned count_ = 0;
};

} // namespace fult::detail
