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
#include "fork.hpp"
#include "holders.hpp"
#include "icv.hpp"
#include "placement.hpp"
#include "tasks.hpp"
#include "team.hpp"
#include "threads.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

std::atomic<unsigned> regions{0};

// Teams are used again: a region costs less than a microsecond. Kept by size, per process.
// They are never deleted: a member that has ended may look at its team when that is in use again.
std::vector<team *> &kept_teams(unsigned size) {
    static auto *const kept = new std::unordered_map<unsigned, std::vector<team *>>;
    return (*kept)[size];
}

// So many threads Linux has at most; the members of a team that gets more would only fill the memory.
constexpr unsigned max_members = 1u << 22;

team *new_team(unsigned size) {
    static constexpr char remedy[] = "lower OMP_NUM_THREADS or num_threads, or set OMP_THREAD_LIMIT";
    if (size > max_members)
        fail("a parallel region cannot have %u threads, but %u at most; %s", size, max_members, remedy);
    try {
        auto *const t = new team;
        init_team(*t, size);
        for (unsigned i = 0; i < size; ++i)
            t->members[i].implicit = new (std::align_val_t{64}) omp_task(nullptr, nullptr, is_implicit, 0);
        return t;
    } catch (const std::bad_alloc &) {
        fail("no memory for a parallel region of %u threads; %s", size, remedy);
    }
}

team *make_team(unsigned size, thread_state *at) {
    if (at->spare && at->spare->size == size) [[likely]]
        return std::exchange(at->spare, nullptr);
    {
        const std::lock_guard lock(mutex_of(shared_state::teams));
        if (auto &list = kept_teams(size); !list.empty()) {
            team *const t = list.back();
            list.pop_back();
            return t;
        }
    }
    return new_team(size);
}

// A line that other threads read is written only if that changes something.
template <class T> void set(T &to, const T &value) noexcept {
    if (!(to == value))
        to = value;
}

void reset_members(team &t) noexcept {
    for (unsigned i = 0; i < t.size; ++i)
        t.members[i].work = {};
    t.works.reset();
    t.singles.store(0, std::memory_order_relaxed);
    t.arrived.store(0, std::memory_order_relaxed);
    t.cancelled.store(false, std::memory_order_relaxed);
    t.construct_cancelled.store(0, std::memory_order_relaxed);
}

// All members have met the same constructs, and left them: their next one has the same number.
bool are_together(const team &t) noexcept {
    const team_member &first = t.members[0];
    for (unsigned i = 0; i < t.size; ++i)
        if (const team_member &m = t.members[i]; m.constructs == team_member::astray ||
                                                 m.constructs != first.constructs ||
                                                 m.singles != first.singles)
            return false;
    return !t.cancelled.load(std::memory_order_relaxed) &&
           t.construct_cancelled.load(std::memory_order_relaxed) == 0;
}

void keep_team(team *t, thread_state *at) noexcept {
    if (!at->spare) {
        at->spare = t;
        return;
    }
    const std::lock_guard lock(mutex_of(shared_state::teams));
    kept_teams(t->size).push_back(t);
}

// At the first region, and at each that has another size or policy; then at all regions in it.
bool shows_affinity(const team &t, int policy) noexcept {
    if (t.level > 1)
        return t.creator->in()->displays_affinity;
    static std::atomic<unsigned> shown{0}; // size and policy
    const unsigned now = t.size << 3 | static_cast<unsigned>(policy);
    return shown.exchange(now, std::memory_order_relaxed) != now;
}

bool has_ended(const team &t) noexcept {
    for (unsigned i = 1; i < t.size; ++i)
        if (!t.members[i].gate.has_ended())
            return false;
    return true;
}

// Those of the creator, but OMP_NUM_THREADS and OMP_PROC_BIND may list values by level.
const icv_set *member_icvs(const team &t, const icv_set &creators, const region_options &with) {
    const program_icvs &p = icvs_of_program();
    const bool lists = t.level > 0 && (t.level < p.thread_levels || t.level < p.bind_levels);
    if (!lists && !with.is_initial && policy_of(creators, with) == creators.bind) [[likely]]
        return &creators;
    icv_set v = with.on_device ? p.first : creators;
    v.bind = policy_of(creators, with);
    if (lists && t.level < p.thread_levels)
        v.threads = p.thread_list[t.level];
    if (lists && t.level < p.bind_levels)
        v.bind = p.bind_list[t.level];
    if (with.thread_limit > 0)
        v.thread_limit = with.thread_limit;
    return v == creators ? &creators : kept_icvs(v);
}

// How many of the `wanted` threads, which join the caller's, the limit leaves.
unsigned take_threads(const omp_task &me, unsigned limit, unsigned wanted) noexcept {
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

void start_member(team_member &m) {
    FULT_ASSERT(m.number != 0, "the first is the caller");
    if (m.started_at == m.at && m.gate.offer()) [[likely]]
        return;
    m.started_at = m.at;
    begin_member(m);
    m.gate.start();
    const omp_wait here(begins::nothing); // for a slot
    try {
        detail::task *const t = detail::take_slot_with(
            {.stack_size = 0, .worker = static_cast<int>(m.at->worker), .pinned = true});
        t->ops = &omp_task_ops;
        stored_omp_task(t) = m.implicit;
        detail::make_ready_slow(t);
    } catch (const std::exception &error) {
        fail("a thread of a team cannot start: %s", error.what());
    }
}

// On the member's thread, before its part.
FULT_NOINLINE void begin_at_place(const team_member &m) {
    const team &t = *m.in;
    const int bound = m.at->bound.load(std::memory_order_relaxed);
    if (t.begins_bound && m.bind.place >= 0 && bound != m.bind.place && (t.holds_workers || bound < 0))
        bind_thread(m.at, m.bind.place);
    if (t.displays_affinity)
        show_affinity(nullptr);
}

// After its descendants: as at the beginning. For the opener, what it has met.
void end_implicit(team_member &m) noexcept {
    omp_task *const f = m.implicit;
    FULT_ASSERT(f->base.outstanding() == 0, "its descendants have ended");
    FULT_ASSERT(f->innermost == &f->base || m.in->cancelled.load(std::memory_order_relaxed),
                "a task ends its taskgroups");
    if (f->base.live != 0) {
        f->base.live = 0;
        f->base.elsewhere.store(0, std::memory_order_relaxed);
    }
    f->innermost = &f->base;
    f->newest_child = {};
    if (f->more) [[unlikely]] {
        free_attachments(f);
        f->more = nullptr;
    }
    m.constructs = m.work.share || m.work.across ? team_member::astray : m.work.constructs;
    m.singles = m.work.singles;
}

} // namespace

void begin_member(team_member &m) noexcept {
    omp_task *const f = m.implicit;
    f->start(&m, m.at, omp_task::unknown);
    f->function = m.function;
    f->data = m.data;
    f->own_icvs = m.icvs;
    f->flags = is_implicit | (m.in->is_serial || cancellation_enabled ? generates_slowly : 0u);
}

void init_team(team &t, unsigned size) {
    FULT_ASSERT(size != 0 && t.size == 0, "a team keeps its size");
    t.size = size;
    t.group = &t;
    t.members = std::make_unique<team_member[]>(size);
    for (unsigned i = 0; i < size; ++i) {
        t.members[i].in = &t;
        t.members[i].number = i;
    }
    reset_members(t);
    t.queue.open(t.members.get());
}

unsigned open_regions() noexcept { return regions.load(std::memory_order_seq_cst); }

void team::put_on_worker(team_member &m) noexcept {
    const unsigned worker = m.at->worker;
    m.next_here = worker == thread_state::no_worker ? nullptr : std::exchange(on_worker[worker], &m);
}

unsigned team::some_worker() noexcept {
    FULT_ASSERT(size > 1 || members[0].at->worker != thread_state::no_worker,
                "a foreign thread alone is no worker");
    constexpr unsigned looks = 8;
    for (unsigned i = 1;; ++i) {
        const team_member &m = members[next_target.fetch_add(1, std::memory_order_relaxed) % size];
        if (m.at->worker != thread_state::no_worker && (m.barrier.any() || i >= looks))
            return m.at->worker;
    }
}

unsigned resolve_size(const omp_task *me, unsigned asked) {
    if (asked == 1 || me->in()->active_level >= me->icvs()->max_active_levels)
        return 1;
    if (asked == 0)
        asked = me->icvs()->threads > 0 ? static_cast<unsigned>(me->icvs()->threads)
                                        : static_cast<unsigned>(usual_threads());
    if (me->icvs()->dynamic)
        asked = std::min(asked, static_cast<unsigned>(usual_threads()));
    return std::max(1u, std::min(asked, static_cast<unsigned>(me->icvs()->thread_limit)));
}

namespace {
// A task that opens a region is not at a scheduling point until that is over.
void begin_constraint(team &t, omp_task *me) noexcept {
    FULT_ASSERT(!t.on_before.task, "the last region of this team is over");
    if (!task_on_worker() || me->in()->is_serial)
        return;
    t.on_before.task = me;
    t.on_before.what = begins::nothing;
    me->at->constraints.push(t.on_before);
}

// Enough for the regions nested in it as well, as far as there are processors.
unsigned workers_for(const omp_task &me, unsigned size) noexcept {
    const icv_set &v = *me.icvs();
    if (v.max_active_levels < 2)
        return size;
    const program_icvs &p = icvs_of_program();
    const long most = std::min(usual_threads(), v.thread_limit);
    long product = p.thread_levels > 1 ? 1 : most;
    for (int i = 0; i < p.thread_levels && product < most; ++i)
        product *= p.thread_list[i];
    return std::max(size, static_cast<unsigned>(std::min(product, most)));
}
} // namespace

team *open_region(void (*function)(void *), void *data, unsigned size, const region_options &with) {
    omp_task *me = current_task();
    regions.fetch_add(1, std::memory_order_seq_cst); // before it asks for workers: they do not end then
    const unsigned workers = with.is_initial ? started_workers()
                             : size == 1     ? workers_for_one()
                                         : ensure_workers(me->in()->level > 0 ? 1 : workers_for(*me, size));
    // A task that is not OpenMP's may go on elsewhere until it is tied.
    detail::task *const slot =
        detail::running_task() && !task_on_worker() ? detail::take_slot_for_tied() : nullptr;
    if (me->in()->level == 0) // the runtime may have started: this thread is a worker now
        me = current_task();
    thread_state *const here = me->at;
    const bool foreign = here->worker == thread_state::no_worker;
    if (workers == 0 || (foreign && workers == 1 && worker_0_may_block()))
        size = 1;
    unsigned counted = 0;
    const int limit = me->icvs()->thread_limit;
    if (size > 1 && limit != no_thread_limit) [[unlikely]] {
        counted = take_threads(*me, static_cast<unsigned>(limit), size - 1);
        size = counted + 1;
    }
    FULT_ASSERT(size != 0 && is_here(here));
    if (size == 1 && foreign)                            // it uses no worker: a runtime may end meanwhile
        regions.fetch_sub(1, std::memory_order_release); // pairs with open_regions
    team *const t = make_team(size, here);
    FULT_ASSERT(t->size == size && has_ended(*t) && !t->above, "the last region of this team is over");
    omp_task *const mine = t->members[0].implicit;
    const bool is_programs = is_thread_of_program();
    if (slot)
        t->above.emplace(slot, mine);
    const team &around = *me->in();
    set(t->group, with.is_initial ? t : around.group);
    set(t->counted, counted);
    set(t->is_serial, size == 1 && foreign);
    set(t->avoids_worker_0, foreign || around.avoids_worker_0);
    set(t->level, with.is_initial ? 0 : around.level + 1);
    set(t->active_level, with.is_initial ? 0 : around.active_level + (size > 1));
    set(t->league, with.is_initial ? with.league : around.league);
    set(t->creator, me);
    set(t->begins_bound, false);
    if (!are_together(*t)) [[unlikely]]
        reset_members(*t);
    set(t->holds_workers, size > 1 && (around.active_level > 0 || is_programs));
    if (t->holds_workers)
        begin_holding(here);
    assign_threads(*t, here, workers);
    const icv_set *const icvs = member_icvs(*t, *me->icvs(), with);
    if (binds_threads()) [[unlikely]] {
        if (here->bound.load(std::memory_order_relaxed) < 0)
            bind_thread(here, 0);
        if (with.is_initial)
            t->members[0].bind = {-1, partition_of(*me->self)};
        else
            bind_members(*t, static_cast<bind_policy>(policy_of(*me->icvs(), with)));
    }
    set(t->displays_affinity,
        icvs_of_program().display_affinity && !with.is_initial && shows_affinity(*t, icvs->bind));
    for (unsigned i = 0; i < size; ++i) {
        team_member &m = t->members[i];
        m.function = function;
        m.data = data;
        m.icvs = icvs;
        m.reductions = nullptr;
    }
    if (with.prepare)
        with.prepare(*t, with.prepare_with);
    t->before = me;
    ++t->regions_opened;
    begin_member(t->members[0]); // which may be the running task already
    ++t->members[0].regions_begun;
    for (unsigned i = 1; i < size; ++i)
        start_member(t->members[i]);
    if (!slot) {
        begin_constraint(*t, me);
        set_current_task(mine);
    }
    if (t->begins_bound || t->displays_affinity) [[unlikely]]
        begin_at_place(t->members[0]);
    return t;
}

namespace {

void end_constraint(team &t) noexcept {
    if (constraint &c = t.on_before; c.task) {
        c.task->at->constraints.remove(c);
        c.task = nullptr;
    }
}

// The opener waits for the members.
void join_members(team &t) {
    if (has_ended(t) || (detail::running_task() && comes_soon([&t] { return has_ended(t); })))
        return;
    const omp_wait here(begins::anything);
    for (unsigned i = 1; i < t.size; ++i)
        t.members[i].gate.join();
}

} // namespace

void close_region(team *t) {
    team_member &mine = t->members[0];
    omp_task *const f = mine.implicit;
    FULT_ASSERT(!task_on_worker() || task_on_worker() == f, "the first member closes its region");
    f->base.wait(wait_mode::for_trees, begins::anything);
    join_members(*t);
    t->queue.await_placeholders();
    thread_state *const at = mine.at;
    if (t->above) {
        t->above.reset();
    } else {
        set_current_task(t->before);
        end_constraint(*t);
    }
    end_implicit(mine);
    if (t->holds_workers)
        end_holding(at);
    give_threads(*t);
    if (!t->is_serial) {
        [[maybe_unused]] const unsigned open =
            regions.fetch_sub(1, std::memory_order_release); // pairs with open_regions
        FULT_ASSERT(open != 0, "a region is closed once");
    }
    keep_team(t, at);
}

void run_member(team_member &m) noexcept {
    omp_task *const f = m.implicit;
    FULT_ASSERT(f->has(is_implicit) && f->self == &m && is_here(f->at));
    ++m.regions_begun;
    FULT_ASSERT(m.has_begun(), "a member runs once a region");
    [[maybe_unused]] const bool tied = detail::tie_current();
    FULT_ASSERT(tied, "a member starts on its worker");
    if (m.in->begins_bound || m.in->displays_affinity) [[unlikely]]
        begin_at_place(m);
    f->function(f->data);
    f->base.wait(wait_mode::for_trees, begins::anything);
    end_implicit(m);
    detail::untie_current();
}

namespace {

constexpr unsigned cancel_bit = 1u << 31; // of team::generation

// After a change of the generation.
void wake_others(team &t, const team_member *m) noexcept {
    if (t.suspended.load(std::memory_order_seq_cst) == 0) // pairs with await_release
        return;
    for (unsigned i = 0; i < t.size; ++i)
        if (&t.members[i] != m)
            t.members[i].barrier.wake();
}

template <class Condition> void await_release(team &t, team_member &m, const Condition &released) {
    if (detail::running_task() && comes_soon(released))
        return;
    t.suspended.fetch_add(1, std::memory_order_seq_cst); // pairs with wake_others
    static constexpr detail::waiting_for barrier{"OpenMP barrier"};
    const omp_wait here(begins::anything);
    m.barrier.wait_until(released, barrier);
    t.suspended.fetch_sub(1, std::memory_order_relaxed);
}

} // namespace

// The last to arrive releases all. Each member first waits for the tasks that it has generated, and their
// descendants: then all tasks of the team have ended when all have arrived.
bool team_barrier(team_member *m, barrier_kind kind) {
    team &t = *m->in;
    FULT_ASSERT(is_here(m->at) && (!task_on_worker() || task_on_worker() == m->implicit),
                "a member arrives by its implicit task");
    for (child_counter *s = m->implicit->innermost; s; s = s->outer) // more than one: that of task reductions
        s->wait(wait_mode::for_trees, begins::anything);
    if (t.size == 1)
        return t.cancelled.load(std::memory_order_relaxed);
    // A member that a cancellation has released may come to several more.
    if (kind == barrier_kind::cancellable && t.cancelled.load(std::memory_order_seq_cst))
        return true;
    const unsigned now = t.generation.load(std::memory_order_relaxed);
    const unsigned before = t.arrived.fetch_add(1, std::memory_order_acq_rel);
    FULT_ASSERT(before < t.size || t.cancelled.load(std::memory_order_relaxed), "a member arrives once");
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
