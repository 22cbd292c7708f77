// A team: the threads of a parallel region. Its members are the region's implicit tasks. Each is tied to a
// worker; the first runs where the region was opened, which may be a foreign thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <fult/detail/assertion.hpp>

#include "binding.hpp"
#include "join_gate.hpp"
#include "late_tasks.hpp"
#include "omp_task.hpp"
#include "task_queue.hpp"
#include "workshare.hpp"

namespace fult::omp {

// Three parts, each in lines of its own: what changes with each region, what seldom changes, and what the
// member alone writes.
struct alignas(64) team_member {
    join_gate gate;
    void (*function)(void *) = nullptr;
    void *data = nullptr;
    const icv_set *icvs = nullptr;
    void *reductions = nullptr;   // of the whole region (GOMP_parallel_reductions)
    std::uint64_t constructs = 0; // at its end: what it has met in all regions, or `astray`
    std::uint64_t singles = 0;
    static constexpr std::uint64_t astray = ~std::uint64_t{0};

    alignas(64) team *in = nullptr;
    unsigned number = 0;
    thread_state *at = nullptr;
    const thread_state *started_at = nullptr; // its last task
    omp_task *implicit = nullptr;             // the same in all regions of the team
    binding bind;                             // if binds_threads()
    team_member *next_here = nullptr;         // another member on the same worker

    alignas(64) work_position work; // in the current work-sharing construct
    condition_wait barrier;
    unsigned regions_begun = 0;

    // In the current region. Asked on its thread by one that has a task of that region.
    bool has_begun() const noexcept;
};

// Which team of a league (teams construct) this is.
struct league_position {
    unsigned teams = 1, number = 0;
    bool operator==(const league_position &) const = default;
};

// What the choice of workers for the members depends on.
struct placement_input {
    const thread_state *caller = nullptr; // null: no choice has been made
    unsigned workers = 0, stride = 0;
    bool avoids_worker_0 = false;
    unsigned changes = 0;     // of holders; 0: the caller holds no workers
    std::uint64_t around = 0; // the placement of the team around this one, whose workers it leaves alone
    bool operator==(const placement_input &) const = default;
};

// A team is used again by the next region: what that does not change is not written, so that the members'
// copies of these lines stay valid.
struct team {
    unsigned size = 0;
    int level = 0, active_level = 0;
    // One member, whose thread may be outside the runtime: its tasks are undeferred, or late ones.
    bool is_serial = false;
    // Worker 0 belongs to the initial thread, which may be in a call that blocks it: members of a foreign
    // thread's team, and of those nested in it, stay away from it.
    bool avoids_worker_0 = false;
    bool holds_workers = false;     // its opener does (holders.hpp)
    bool begins_bound = false;      // members bind their threads as they begin, or
    bool displays_affinity = false; // print where they run
    omp_task *creator = nullptr;
    league_position league; // that encloses it
    // A thread limit is for all threads in the regions of one initial task, nested ones too.
    team *group = nullptr;             // that task's team
    std::atomic<unsigned> in_group{0}; // in that team: these threads, without the initial one
    unsigned counted = 0;              // those of them that this region has begun
    std::atomic<bool> cancelled{false};
    std::atomic<std::uint64_t> construct_cancelled{0}; // clang: number of the work-sharing construct; 0: none

    std::unique_ptr<team_member[]> members;
    std::unique_ptr<team_member *[]> on_worker; // by worker: its first member, or null
    unsigned workers = 0;                       // length of on_worker
    std::atomic<unsigned> next_target{0};

    // Barrier.
    alignas(64) std::atomic<unsigned> arrived{0};
    std::atomic<unsigned> suspended{0}; // members that may have to be woken; the last to arrive has this line
    alignas(64) std::atomic<unsigned> generation{0}; // the top bit changes when the region is cancelled

    task_queue queue;
    late_tasks late; // if is_serial
    work_ring works;
    void *copied = nullptr; // of single copyprivate
    std::atomic<std::uint64_t> singles{0};

    alignas(64) std::optional<omp_above> above; // the caller's, if its task is not OpenMP's
    omp_task *before = nullptr;                 // the caller's task
    unsigned regions_opened = 0;
    constraint on_before{}; // while the region is open, if it is nested
    placement_input placed_by;
    std::uint64_t placement = 0;              // another number for each choice, of all teams
    std::atomic<unsigned> reductions_left{0}; // members that have left a construct with task reductions

    team_member *member_on(unsigned worker) const noexcept {
        return worker < workers ? on_worker[worker] : nullptr;
    }
    void put_on_worker(team_member &m) noexcept; // the members in the order of falling numbers
    unsigned some_worker() noexcept;             // of a member that waits, if there is one
};

inline bool team_member::has_begun() const noexcept { return regions_begun == in->regions_opened; }

static_assert(sizeof(team_member) % 64 == 0 && alignof(team) == 64, "no two members in one cache line");

inline team *omp_task::in() const noexcept {
    FULT_ASSERT(self && self->in, "a task is of a team from its start on");
    return self->in;
}

struct region_options {
    void (*prepare)(team &t, void *with) = nullptr; // before any member runs
    void *prepare_with = nullptr;
    int bind = 0;            // of a proc_bind clause; 0: none
    bool is_initial = false; // the team of an initial task: of a league, or of a target region
    league_position league;  // of an initial task
    int thread_limit = 0;    // of an initial task; 0: as before
    bool on_device = false;  // of an initial task: its control variables are those of the program's start
};

void init_team(team &t, unsigned size);

// A league of teams (teams construct), one after the other, each of one initial thread. 0: the default.
void run_league(void (*function)(void *), void *data, unsigned teams, unsigned thread_limit);
// `function` as the initial task of a team of its own: a target region.
void run_target(void (*function)(void *), void *data, unsigned thread_limit = 0);

// The number of threads of the next region: asked 0: by the control variables, 1: alone.
unsigned resolve_size(const omp_task *me, unsigned asked);
// Opens a region: the caller becomes member 0 and returns; the others run function(data). close_region is
// called by member 0 after its part, and returns when all have ended.
team *open_region(void (*function)(void *), void *data, unsigned size, const region_options &with = {});
void close_region(team *t);
// On the member's thread: its part, without its end. `begin` comes first, if the opener has not called it.
void begin_member(team_member &m) noexcept;
void run_member(team_member &m) noexcept;
unsigned open_regions() noexcept;

// All members, with all their tasks; a scheduling point. Returns true if the region was cancelled.
// A cancellable one also ends when the region is cancelled: all that a program writes. After a plain one all
// members have done what is before it: those in which they exchange data.
enum class barrier_kind { plain, cancellable };
bool team_barrier(team_member *m, barrier_kind kind = barrier_kind::plain);
void cancel_region(team &t) noexcept;

} // namespace fult::omp
