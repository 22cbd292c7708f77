// Scheduling points of a task that goes on by itself: taskyield, and the generation of very many tasks. The
// task scheduling constraint (OpenMP 5.1, section 2.12.6) holds there: while a tied task yields, its thread
// starts no tied tasks but its descendants. So data of the thread do not change under it, if its descendants
// do not change them. Tasks that have started before may resume.
#pragma once

#include <cstddef>
#include <vector>

#include "omp_task.hpp"

namespace fult::omp {

// Lets other tasks run. Without effect on a foreign thread.
void taskyield(omp_task *me);
// The same by one yield, without a search for a descendant behind others. In that time private children of
// `me` may run one after the other (run_children_of_yielding).
void let_some_run(omp_task *me);
// So many that have not ended that the generator lets others run: then few are queued, their memory stays in
// the cache, and most predecessors have ended. It never waits for its children: they may wait for what it
// does next.
bool has_many_children(const omp_task *me) noexcept;

// A tied task that yields. On its stack, in the list of its thread: the list outlives regions and teams, so a
// task that has just ended may still look at it.
class yielding_task {
  public:
    explicit yielding_task(omp_task *tied) noexcept;
    ~yielding_task();
    yielding_task(const yielding_task &) = delete;
    yielding_task &operator=(const yielding_task &) = delete;

    std::size_t count_held() const noexcept { return held_.size(); }
    void submit_held(); // other threads may start them
    omp_task *tied() const noexcept { return tied_; }

    // True if a task of the parent's member yields and the parent is neither that task nor a descendant of
    // it.
    static bool excludes_children_of(const omp_task *parent) noexcept;
    // On the thread of m, where f is about to start. True if it may not: it is held for a moment, and
    // submitted again.
    static bool hold_back(team_member &m, omp_task *f);

  private:
    bool admits(const omp_task *f) const noexcept;

    bool is_of(const team_member *m) const noexcept { return tied_->self == m; }

    omp_task *tied_;
    yielding_task *before_; // of the same thread, which may end earlier
    std::vector<omp_task *> held_;
};

} // namespace fult::omp
