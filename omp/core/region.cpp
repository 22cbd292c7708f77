// Parallel regions: a team is made, its members start, and the region's end waits for them.
#include <algorithm>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/wait_record.hpp>
#include <fult/spawn.hpp>
#include <fult/this_task.hpp>

#include "cancel.hpp"
#include "control.hpp"
#include "error.hpp"
#include "icv.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "threads.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

std::atomic<unsigned> regions{0};

// Teams are used again: a region costs less than a microsecond. Kept by size, per process.
// They are never deleted: the last member to end may look at its team when that is in use again.
struct kept_teams {
    std::mutex lock;
    std::unordered_map<unsigned, std::vector<team *>> of_size;
};
kept_teams &kept() {
    static auto *const k = new kept_teams;
    return *k;
}

team *make_team(unsigned size, place *at) {
    if (at->spare && at->spare->size == size) [[likely]]
        return std::exchange(at->spare, nullptr);
    {
        const std::lock_guard lock(kept().lock);
        if (auto &list = kept().of_size[size]; !list.empty()) {
            team *const t = list.back();
            list.pop_back();
            return t;
        }
    }
    auto *const t = new team;
    init_team(*t, size);
    return t;
}

void begin_works_afresh(const team &t) noexcept {
    for (unsigned i = 0; i < work_ring::length; ++i) {
        work_share &w = t.works.shares[i];
        w.turn.store(i, std::memory_order_relaxed);
        w.claimed.store(i, std::memory_order_relaxed);
        w.ready.store(0, std::memory_order_relaxed);
        w.left.store(0, std::memory_order_relaxed);
    }
}

void begin_afresh(team &t) noexcept {
    bool used = false;
    for (unsigned i = 0; i < t.size; ++i) {
        member &m = t.members[i];
        used = used || m.work.constructs != 0;
        m.work = {};
        m.waiter.store(0, std::memory_order_relaxed);
    }
    if (used)
        begin_works_afresh(t);
    t.cancelled.store(false, std::memory_order_relaxed);
    t.construct_cancelled.store(false, std::memory_order_relaxed);
    t.singles.store(0, std::memory_order_relaxed);
    t.copied = nullptr;
    t.arrived.store(0, std::memory_order_relaxed);
}

void keep_team(team *t, place *at) noexcept {
    if (!at->spare) {
        at->spare = t;
        return;
    }
    const std::lock_guard lock(kept().lock);
    kept().of_size[t->size].push_back(t);
}

// Member 0 is on the caller's thread. The others follow on the next workers: at the outermost level always on
// the same ones, which keep their thread-local data from one region to the next.
void assign_places(team &t, place *caller, unsigned workers) {
    if (t.workers != workers) {
        t.on_worker = std::make_unique<member *[]>(workers);
        t.workers = workers;
    }
    std::fill_n(t.on_worker.get(), workers, nullptr);
    FULT_ASSERT(t.size == 1 || workers != 0);
    const bool on_worker = caller->worker != place::no_worker;
    for (unsigned i = t.size; i-- > 0;) {
        member &m = t.members[i];
        if (i == 0)
            m.at = caller;
        else if (workers == 1)
            m.at = place_of_worker(0);
        else if (!t.avoids_worker_0)
            m.at = place_of_worker((caller->worker + i) % workers);
        else
            m.at = place_of_worker(1 + ((on_worker ? caller->worker : 0) + i - 1) % (workers - 1));
        FULT_ASSERT(i == 0 || m.at->worker != place::no_worker, "the first alone may be a foreign thread");
        FULT_ASSERT(m.at->worker == place::no_worker || m.at->worker < workers);
        if (m.at->worker != place::no_worker)
            t.on_worker[m.at->worker] = &m;
    }
}

// Those of the creator, but OMP_NUM_THREADS and OMP_PROC_BIND may list values by level.
const icv_set *member_icvs(const team &t, const icv_set &creators, const region_options &with) {
    const program_icvs &p = icvs_of_program();
    const bool lists = t.level > 0 && (t.level < p.thread_levels || t.level < p.bind_levels);
    const bool binds = with.bind != 0 && creators.bind != 0; // OMP_PROC_BIND=false overrides a clause
    if (!lists && !with.is_initial && !binds) [[likely]]
        return &creators;
    icv_set v = with.on_device ? p.first : creators;
    if (binds)
        v.bind = with.bind;
    if (lists && t.level < p.thread_levels)
        v.threads = p.thread_list[t.level];
    if (lists && t.level < p.bind_levels)
        v.bind = p.bind_list[t.level];
    if (with.thread_limit > 0)
        v.thread_limit = with.thread_limit;
    return v == creators ? &creators : kept_icvs(v);
}

// How many of the `wanted` threads, which join the caller's, the limit leaves.
unsigned take_threads(const frame &me, unsigned limit, unsigned wanted) noexcept {
    std::atomic<unsigned> &used = me.in()->group->in_group;
    unsigned before = used.load(std::memory_order_relaxed), n = 0;
    do
        n = before < limit ? std::min(wanted, limit - 1 - before) : 0;
    while (!used.compare_exchange_weak(before, before + n, std::memory_order_relaxed));
    return n;
}

void give_threads(const team &t) noexcept {
    if (t.counted != 0) [[unlikely]]
        t.group->in_group.fetch_sub(t.counted, std::memory_order_relaxed);
}

frame *make_implicit(team &t, member &m, const icv_set *icvs, place *at) {
    FULT_ASSERT(is_here(at) && m.in == &t && m.number < t.size);
    auto *const f = ::new (at->blocks.take(0)) frame(
        nullptr, nullptr, is_implicit | (t.is_serial || cancellation_enabled ? generates_slowly : 0u), 0);
    f->own_icvs = icvs;
    m.reductions = nullptr;
    f->start(&m, m.at);
    f->function = t.function;
    f->data = t.data;
    m.implicit = f;
    return f;
}

void start_member(const member &m) {
    FULT_ASSERT(m.number != 0 && m.implicit->self == &m, "the first is the caller");
    if (m.at->docked.offer(m.implicit))
        return;
    try {
        detail::task *const t = detail::take_slot_with(
            {.stack_size = 0, .worker = static_cast<int>(m.at->worker), .pinned = true});
        t->ops = &frame_ops;
        stored_frame(t) = m.implicit;
        detail::make_ready_slow(t);
    } catch (const std::exception &error) {
        fail("a thread of a team cannot start: %s", error.what());
    }
}

void wake(member &m) noexcept {
    if (const std::uint64_t id = m.waiter.exchange(0, std::memory_order_seq_cst);
        id != 0) // pairs with team_barrier
        detail::post_signal(task_id::from_value(id));
}

// A signal may be a stale one, of a member that ended late: it has taken the id away, so the id is stored
// again.
template <class Condition> void suspend_until(member &m, const Condition &condition) noexcept {
    const std::uint64_t id = this_task::id().value();
    while (!condition()) {
        m.waiter.store(id, std::memory_order_seq_cst); // pairs with wake
        if (condition())
            break;
        this_task::wait();
    }
    m.waiter.store(0, std::memory_order_relaxed);
}

} // namespace

void init_team(team &t, unsigned size) {
    FULT_ASSERT(size != 0 && t.size == 0, "a team keeps its size");
    t.size = size;
    t.group = &t;
    t.members = std::make_unique<member[]>(size);
    t.works.shares = std::make_unique<work_share[]>(work_ring::length);
    for (unsigned i = 0; i < size; ++i) {
        t.members[i].in = &t;
        t.members[i].number = i;
    }
    begin_works_afresh(t);
    begin_afresh(t);
}

unsigned open_regions() noexcept { return regions.load(std::memory_order_seq_cst); }

unsigned team::some_worker() noexcept {
    FULT_ASSERT(size > 1 || members[0].at->worker != place::no_worker, "a foreign thread alone is no worker");
    for (;;) {
        const member &m = members[next_target.fetch_add(1, std::memory_order_relaxed) % size];
        if (m.at->worker != place::no_worker)
            return m.at->worker;
    }
}

unsigned resolve_size(const frame *me, unsigned asked) {
    if (asked == 1 || me->in()->active_level >= me->icvs()->max_active_levels)
        return 1;
    if (asked == 0)
        asked = me->icvs()->threads > 0 ? static_cast<unsigned>(me->icvs()->threads)
                                        : static_cast<unsigned>(processors());
    if (me->icvs()->dynamic)
        asked = std::min(asked, static_cast<unsigned>(processors()));
    return std::max(1u, std::min(asked, static_cast<unsigned>(me->icvs()->thread_limit)));
}

team *open_region(void (*function)(void *), void *data, unsigned size, const region_options &with) {
    frame *me = current_frame();
    regions.fetch_add(1, std::memory_order_seq_cst); // before it asks for workers: they do not end then
    const unsigned workers = with.is_initial ? started_workers()
                             : size == 1     ? workers_for_one()
                                             : ensure_workers(me->in()->level > 0 ? 1 : size);
    if (me->in()->level == 0) // the runtime may have started: this thread is a worker now
        me = current_frame();
    place *const here = me->at;
    const bool foreign = here->worker == place::no_worker;
    if (workers == 0 || (foreign && workers == 1 && worker_0_may_block()))
        size = 1;
    unsigned counted = 0;
    const int limit = me->icvs()->thread_limit;
    if (size > 1 && limit != no_thread_limit) [[unlikely]] {
        counted = take_threads(*me, static_cast<unsigned>(limit), size - 1);
        size = counted + 1;
    }
    FULT_ASSERT(size != 0 && is_here(here));
    team *const t = make_team(size, here);
    FULT_ASSERT(t->size == size && t->running.load(std::memory_order_relaxed) == 0 && !t->above,
                "the last region of this team is over");
    t->group = with.is_initial ? t : me->in()->group;
    t->counted = counted;
    t->is_serial = size == 1 && foreign;
    t->avoids_worker_0 = foreign || me->in()->avoids_worker_0;
    t->level = with.is_initial ? 0 : me->in()->level + 1;
    t->active_level = with.is_initial ? 0 : me->in()->active_level + (size > 1);
    t->league = with.is_initial ? with.league : me->in()->league;
    t->creator = me;
    t->function = function;
    t->data = data;
    begin_afresh(*t);
    assign_places(*t, here, workers);
    const icv_set *const icvs = member_icvs(*t, *me->icvs(), with);
    for (unsigned i = 0; i < size; ++i)
        make_implicit(*t, t->members[i], icvs, here);
    if (with.prepare)
        with.prepare(*t, with.prepare_with);
    t->running.store(size - 1, std::memory_order_relaxed);
    for (unsigned i = 1; i < size; ++i)
        start_member(t->members[i]);
    t->before = me;
    frame *const mine = t->members[0].implicit;
    if (detail::current_worker()->current && !frame_on_worker())
        t->above.emplace(&frame_ops, mine);
    else
        set_current_frame(mine);
    return t;
}

namespace {

// The end of an implicit task: its descendants first.
void end_member(frame *f) {
    f->base.wait(wait_mode::for_trees);
    FULT_ASSERT(f->innermost == &f->base || f->in()->cancelled.load(std::memory_order_relaxed),
                "a task ends its taskgroups");
    place *const at = f->at;
    free_frame(f, at);
}

} // namespace

void close_region(team *t) {
    member &mine = t->members[0];
    frame *const f = mine.implicit;
    FULT_ASSERT(!frame_on_worker() || frame_on_worker() == f, "the first member closes its region");
    f->base.wait(wait_mode::for_trees);
    if (t->running.load(std::memory_order_acquire) != 0) { // pairs with run_member
        const bool on_worker = detail::current_worker()->current != nullptr;
        const auto over = [t] { return t->running.load(std::memory_order_acquire) == 0; };
        if (on_worker) {
            if (!comes_soon(over)) {
                static constexpr detail::waiting_for end{"the end of an OpenMP region"};
                const detail::wait_record record(detail::current_worker()->current, end);
                suspend_until(mine, over);
            }
        } else {
            for (unsigned left; (left = t->running.load(std::memory_order_acquire)) != 0;)
                t->running.wait(left, std::memory_order_acquire);
        }
    }
    FULT_ASSERT(t->by_priority.count.load(std::memory_order_relaxed) == 0,
                "all tasks of the region have run");
    if (t->above)
        t->above.reset();
    else
        set_current_frame(t->before);
    place *const at = mine.at;
    free_frame(f, at);
    give_threads(*t);
    [[maybe_unused]] const unsigned open =
        regions.fetch_sub(1, std::memory_order_release); // pairs with open_regions
    FULT_ASSERT(open != 0, "a region is closed once");
    keep_team(t, at);
}

void run_member(frame *f) noexcept {
    FULT_ASSERT(f->has(is_implicit) && f->self->implicit == f && is_here(f->at));
    team *const t = f->in();
    member &first = t->members[0];
    [[maybe_unused]] const bool tied = detail::tie_current();
    FULT_ASSERT(tied, "a member starts on its worker");
    f->function(f->data);
    end_member(f);
    detail::untie_current();
    // The team may be used again as soon as the count is zero, but a member is never moved: at worst a task
    // that waits in another barrier is woken without need.
    const bool foreign = first.at->worker == place::no_worker;
    const unsigned running = t->running.fetch_sub(1, std::memory_order_seq_cst); // pairs with close_region
    FULT_ASSERT(running != 0, "each member ends once");
    if (running != 1)
        return;
    if (foreign)
        t->running.notify_one();
    else
        wake(first);
}

namespace {

constexpr unsigned cancel_bit = 1u << 31; // of team::generation

void wake_others(team &t, const member *m) noexcept {
    if (t.members[0].at->worker == place::no_worker)
        t.generation.notify_all();
    for (unsigned i = 0; i < t.size; ++i)
        if (&t.members[i] != m)
            wake(t.members[i]);
}

template <class Condition> void await_release(const team &t, member &m, const Condition &released) {
    if (!detail::current_worker()->current) {
        for (;;) {
            const unsigned seen = t.generation.load(std::memory_order_seq_cst);
            if (released())
                return;
            t.generation.wait(seen, std::memory_order_seq_cst);
        }
    }
    if (comes_soon(released))
        return;
    static constexpr detail::waiting_for barrier{"OpenMP barrier"};
    const detail::wait_record record(detail::current_worker()->current, barrier);
    suspend_until(m, released);
}

} // namespace

// The last to arrive releases all. Each member first waits for the tasks that it has generated, and their
// descendants: then all tasks of the team have ended when all have arrived.
bool team_barrier(member *m, barrier_kind kind) {
    team &t = *m->in;
    FULT_ASSERT(is_here(m->at) && (!frame_on_worker() || frame_on_worker() == m->implicit),
                "a member arrives by its implicit task");
    for (scope *s = m->implicit->innermost; s; s = s->outer) // more than one: that of task reductions
        s->wait(wait_mode::for_trees);
    if (t.size == 1)
        return t.cancelled.load(std::memory_order_relaxed);
    const unsigned now = t.generation.load(std::memory_order_relaxed);
    const unsigned before = t.arrived.fetch_add(1, std::memory_order_acq_rel);
    FULT_ASSERT(before < t.size, "a member arrives once");
    if (before == t.size - 1) {
        t.arrived.store(0, std::memory_order_relaxed);
        t.generation.fetch_add(1, std::memory_order_seq_cst); // pairs with the checks below
        wake_others(t, m);
        return t.cancelled.load(std::memory_order_relaxed);
    }
    const auto released = [&t, now, kind] {
        return ((t.generation.load(std::memory_order_seq_cst) ^ now) & ~cancel_bit) != 0 ||
               (kind == barrier_kind::cancellable &&
                t.cancelled.load(std::memory_order_seq_cst)); // pairs with cancel_region
    };
    await_release(t, *m, released);
    return t.cancelled.load(std::memory_order_relaxed);
}

void cancel_region(team &t) noexcept {
    FULT_ASSERT(cancellation_enabled);
    t.cancelled.store(true, std::memory_order_seq_cst); // pairs with team_barrier
    t.generation.fetch_xor(cancel_bit, std::memory_order_seq_cst);
    wake_others(t, nullptr);
}

} // namespace fult::omp
