// Ready tasks of a team that are in no slot: those with a priority (OMP_MAX_TASK_PRIORITY above 0), and those
// that became ready while no slot was free.
//
// Placeholders, which are in slots, run them: whichever worker of the team starts one takes the task of the
// highest priority that may begin there (of a long queue, among those that it looks at). With priorities, so
// does a worker that starts any other task of the team. While the queue has a task, there is a placeholder.
// Usually there is one for each; where slots are few, one is submitted again until the queue is empty.
// tests/model/task_queue.pml.
//
// A worker whose tasks are constrained takes, of those that it may begin, the first of all, or else a child
// of the task that waits, or else one of the first children of other parents: whether a task may begin
// depends on its parent alone, so each constraint looks at each parent once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>

#include <fult/detail/spin_lock.hpp>

#include "constraint.hpp"
#include "omp_task.hpp"

namespace fult::omp {

class task_queue {
  public:
    void open(team_member *first) noexcept; // of its team

    // From any thread. A worker waits while there is no slot for the first placeholder.
    void add(omp_task *f);
    // Called by a worker that starts `next`, a task or a placeholder of this team. Returns what it runs
    // instead, or `next`; null: `next` was a placeholder, and nothing is left to do.
    omp_task *take(omp_task *next);
    // True if a placeholder may start on this worker: it takes a task, or is one too many.
    bool has_admitted() noexcept;
    // At the end of the region, when all tasks have run.
    void await_placeholders();

    bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  private:
    using age = std::uint64_t; // a number for each task that comes
    struct rank {
        int below_top; // the negated priority
        age number;
        auto operator<=>(const rank &) const = default;
    };
    using ranked = std::map<rank, omp_task *>;
    struct siblings { // in the queue, with one parent
        age since;    // the number of the first; another one if they have all left meanwhile
        ranked tasks;
    };

    omp_task *take_before(omp_task *next);
    omp_task *begin_placeholder();
    bool is_unconstrained() const noexcept;
    ranked::iterator find(bool any) noexcept;
    const ranked *find_for(const team_member &m) noexcept;
    const ranked *find_by_parent(constraint &c, bool lasts) noexcept;
    static omp_task *first_of(const siblings &group) noexcept { return group.tasks.begin()->second; }
    omp_task *remove(ranked::iterator at) noexcept;
    bool count_in(omp_task *f, bool has_slot);
    void insert(omp_task *f);

    detail::spin_lock lock_; // of the next five
    ranked tasks_;
    std::unordered_map<const omp_task *, siblings> by_parent_;
    std::map<age, siblings *> parents_;
    age next_number_ = 0;
    std::size_t placeholders_ = 0;
    std::atomic<std::size_t> count_{0};   // of tasks
    std::atomic<std::size_t> unended_{0}; // placeholders that may still use this queue
    omp_task placeholder_{&placeholder_, nullptr, is_placeholder, 0}; // all of them; no task's parent
};

} // namespace fult::omp
