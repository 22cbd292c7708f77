// Random OpenMP task programs with an oracle. A program is a tree that a seed determines: each task draws
// what it does, generates children by that, and checks what OpenMP promises where it can see it.
//   random_tasks SEED PROGRAMS [THREADS]         so many, the first one by this seed
//   random_tasks --seconds SECONDS [THREADS]    for a time, with a first seed from the clock, which is
//   printed
// THREADS: so many threads run programs at the same time, each with teams of its own.
// What is checked: each task runs once; taskwait returns after the bodies of all children, taskgroup and
// barriers after all descendants; tasks with dependences run in an order that these allow; a tied task stays
// on its thread, with that thread's threadprivate data, which no other task changes while it yields; a
// task begins only on a thread whose suspended ones it descends from, so a mutex may be held across waits,
// for locks too; a cancelled taskgroup ends, and so does a region, also where its members wait in a barrier;
// what depends on a detached task comes after its event, and all memory orders all tasks; reductions have the
// right sum; members of a team may spin for each other; a thread begins with its implicit task; tasks that
// wait in FULT's own calls let those begin that end the wait.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <memory>
#include <omp.h>
#include <optional>
#include <sched.h>
#include <thread>
#include <vector>

#include "random_blocking.hpp"
#include "random_checks.hpp"
#include "random_locks.hpp"

extern "C" void GOMP_task(void (*function)(void *), void *data, void (*copy)(void *, void *), long size,
                          long align, bool deferred, unsigned flags, void **depend, int priority,
                          void *detach);

namespace {

int mine = -1; // the number of the thread in the outermost team
#pragma omp threadprivate(mine)
int writer = 0; // the task that uses the thread's data
#pragma omp threadprivate(writer)

std::atomic<long> tasks_run{0};

// libgomp runs detached tasks that are undeferred to the end of their event, where others wait for it.
const bool on_libgomp = dlsym(RTLD_DEFAULT, "fult_omp_start_runtime") == nullptr;
// Members share the workers that there are: no thread is theirs alone.
const bool few_workers = std::getenv("FULT_WORKERS") != nullptr;

void node(const program &p, std::uint64_t seed, unsigned depth, std::atomic<long> *count,
          const constraining *me);

// Checks that a task is on the thread where it began.
class stays {
  public:
    explicit stays(const program &p) : p_(p), thread_(omp_get_thread_num()), mine_(mine) {}
    ~stays() {
        expect(omp_get_thread_num() == thread_, "a tied task has another thread number", p_.seed);
        if (p_.own_data)
            expect(mine == mine_ && mine == thread_, "a tied task sees another thread's data", p_.seed);
    }
    stays(const stays &) = delete;
    stays &operator=(const stays &) = delete;

  private:
    const program &p_;
    int thread_, mine_;
};

// The number of tasks that node() with this seed runs in all, itself included, by the same draws.
long size_of(std::uint64_t seed, unsigned depth);

void children(const program &p, draw d, unsigned depth, std::atomic<long> &bodies, std::atomic<long> &all,
              const constraining *me) {
    const unsigned n = 1 + d.below(4);
    for (unsigned i = 0; i < n; ++i) {
        const std::uint64_t s = d.next();
        const unsigned how = d.below(5);
        std::atomic<long> *const to = &all;
        std::atomic<long> *const b = &bodies;
        const program *const q = &p;
        switch (how) {
        case 0:
#pragma omp task firstprivate(s, depth, to, b, q, me) if (s % 3 != 0)
        {
            const constraining here(*q, me, s % 3 != 0 ? constraining::tied : constraining::at_once);
            node(*q, s, depth - 1, to, &here);
            ++*b;
        } break;
        case 1:
#pragma omp task firstprivate(s, depth, to, b, q, me) final(s % 5 == 0) mergeable
        {
            const constraining here(*q, me, constraining::tied);
            node(*q, s, depth - 1, to, &here);
            ++*b;
        } break;
        case 2:
#pragma omp task firstprivate(s, depth, to, b, q, me) priority(static_cast <int>(s % 7)) untied
        {
            const constraining here(*q, me, constraining::free);
            node(*q, s, depth - 1, to, &here);
            ++*b;
        } break;
        default:
#pragma omp task firstprivate(s, depth, to, b, q, me)
        {
            const constraining here(*q, me, constraining::tied);
            const stays stay(*q);
            node(*q, s, depth - 1, to, &here);
            ++*b;
        }
        }
    }
}

long size_of_children(draw d, unsigned depth) {
    const unsigned n = 1 + d.below(4);
    long total = 0;
    for (unsigned i = 0; i < n; ++i) {
        const std::uint64_t s = d.next();
        d.below(5);
        total += size_of(s, depth - 1);
    }
    return total;
}

void with_taskwait(const program &p, draw d, unsigned depth, std::atomic<long> *count,
                   const constraining *me) {
    std::atomic<long> bodies{0}, all{0};
    draw look = d;
    const long n = 1 + look.below(4);
    // the descendants that are left after the taskwait still use these
#pragma omp taskgroup
    {
        children(p, d, depth, bodies, all, me);
#pragma omp taskwait
        expect(bodies == n, "taskwait returned before its children", p.seed);
    }
    expect(all == size_of_children(d, depth), "taskgroup returned before its tasks", p.seed);
    *count += all;
}

void with_dependences(const program &p, draw d) {
    const unsigned n = 3 + d.below(30);
    int a = 0, b = 0, sum = 0;
    int readers = 0;
    for (unsigned i = 0; i < n; ++i) {
        if (d.one_in(3)) {
#pragma omp task depend(in : a) depend(out : b) shared(a, b, readers)
            {
                b = a;
#pragma omp atomic
                ++readers;
            }
        } else if (d.one_in(4)) {
#pragma omp task depend(mutexinoutset : sum) shared(sum)
            {
                const int before = sum;
#pragma omp taskyield
                sum = before + 1;
            }
        } else {
#pragma omp task depend(inout : a) shared(a)
            {
                const int before = a;
#pragma omp taskyield
                a = before + 1;
            }
        }
    }
#pragma omp taskwait
    expect(a + sum + readers == static_cast<int>(n), "tasks with dependences ran at the same time", p.seed);
}

void with_taskloop(const program &p, draw d) {
    const int n = static_cast<int>(1 + d.below(200)), grain = static_cast<int>(1 + d.below(20));
    long sum = 0;
#pragma omp taskloop grainsize(grain) reduction(+ : sum)
    for (int i = 0; i < n; ++i)
        sum += i;
    expect(sum == long{n} * (n - 1) / 2, "taskloop with a reduction", p.seed);
}

void with_cancel(const program &p, draw d) {
    const unsigned n = 5 + d.below(50);
    std::atomic<long> ran{0};
#pragma omp taskgroup
    for (unsigned i = 0; i < n; ++i)
#pragma omp task shared(ran) firstprivate(i, n)
    {
        ++ran;
        if (i == n / 2) {
#pragma omp cancel taskgroup
        }
    }
    expect(ran <= static_cast<long>(n) && (omp_get_cancellation() ? ran >= 1 : ran == static_cast<long>(n)),
           "a cancelled taskgroup", p.seed);
}

void with_region(const program &p, draw d) {
    const int n = static_cast<int>(1 + d.below(3));
    std::atomic<long> ran{0}, meetings{0};
#pragma omp parallel num_threads(n) shared(ran, meetings)
    {
        ++meetings;
#pragma omp task shared(ran)
        ++ran;
#pragma omp barrier
        expect(ran >= omp_get_num_threads() && meetings == omp_get_num_threads(),
               "a barrier of a nested team", p.seed);
#pragma omp task shared(ran)
        ++ran;
    }
    expect(ran == 2 * meetings, "the end of a nested region", p.seed);
}

void with_detach(const program &p, draw d) {
    std::atomic<long> step{0};
    const bool early = d.one_in(2);
#pragma omp taskgroup
    {
        omp_event_handle_t event;
#pragma omp task detach(event) shared(step) firstprivate(early)
        {
            ++step;
            if (early)
                omp_fulfill_event(event);
        }
        if (!early) {
#pragma omp task shared(step) firstprivate(event)
            {
                ++step;
                omp_fulfill_event(event);
            }
        }
    }
    expect(step == (early ? 1 : 2), "a detached task", p.seed);
}

// A tied task that yields keeps its thread's data: none but its descendants start there. An included task
// begins at once, also where its parent resumed while another task yields: it leaves the data alone.
void with_yields(const program &p, draw d) {
    if (omp_in_final())
        return;
    const int me = static_cast<int>(1 + d.below(1000)), yields = static_cast<int>(d.below(4));
    const program *const q = &p;
#pragma omp task firstprivate(me, yields, q)
    {
        expect(!q->own_data || writer == 0, "a task started in one that yields", q->seed);
        writer = me;
        for (int i = 0; i < yields; ++i) {
#pragma omp taskyield
            expect(!q->own_data || writer == me, "the data of a thread changed in a taskyield", q->seed);
        }
        writer = 0;
    }
}

// A detached task that may run at once, by its clauses or as its generator is final or alone. The generator
// fulfils the event when it has generated those that depend on it.
void with_events(const program &p, draw d) {
    const bool deferred = d.one_in(2), final_itself = d.one_in(3);
    const int n = static_cast<int>(1 + d.below(4));
    [[maybe_unused]] int x = 0;
    std::atomic<int> fulfilled{0}, followed{0};
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : x) if (deferred) final(final_itself)
    {}
    for (int i = 0; i < n; ++i) {
#pragma omp task depend(in : x) shared(fulfilled, followed)
        {
            expect(fulfilled == 1, "a task ran before the event of the one on which it depends", p.seed);
            ++followed;
        }
    }
    fulfilled = 1;
    omp_fulfill_event(event);
#pragma omp taskwait
    expect(followed == n, "tasks that depend on a detached one", p.seed);
}

// omp_all_memory, by gcc's interface, as the compiler may not know it. What is before it waits for an event.
struct of_all {
    std::atomic<int> before{0}, all{0}, after{0};
    std::uint64_t seed = 0;
};
void run_of_all(void *data) {
    of_all &c = **static_cast<of_all **>(data);
    expect(c.before == 1, "a task that depends on all memory ran too early", c.seed);
    c.all = 1;
}
void with_all_memory(const program &p, draw d) {
    constexpr unsigned depends = 8;
    [[maybe_unused]] int a = 0, b = 0;
    for (unsigned round = 1 + d.below(3); round != 0; --round) {
        of_all c, *data = &c;
        c.seed = p.seed;
        void *list[] = {reinterpret_cast<void *>(1), reinterpret_cast<void *>(1), nullptr};
        omp_event_handle_t event;
        const bool reads = d.one_in(2);
        [[maybe_unused]] int *const from = reads ? &b : &a;
#pragma omp task detach(event) depend(in : from[0])
        {}
        GOMP_task(run_of_all, &data, nullptr, sizeof data, alignof(of_all *), true, depends, list, 0,
                  nullptr);
#pragma omp task depend(in : a) shared(c)
        {
            expect(c.all == 1, "a reader did not wait for all memory", c.seed);
            ++c.after;
        }
#pragma omp task depend(out : b) shared(c)
        {
            expect(c.all == 1, "a writer did not wait for all memory", c.seed);
            ++c.after;
        }
        c.before = 1;
        omp_fulfill_event(event);
#pragma omp taskwait
        expect(c.all == 1 && c.after == 2, "tasks around one that depends on all memory", p.seed);
    }
}

[[gnu::noinline]] void meet() {
#pragma omp barrier
}
// One member leaves; the others wait for it in a barrier that the compiler does not see.
void with_cancelled_barrier(const program &p, draw d) {
    const int n = static_cast<int>(1 + d.below(3)), leaver = static_cast<int>(d.below(3));
    std::atomic<int> beyond{0};
#pragma omp parallel num_threads(n) shared(beyond)
    {
        if (omp_get_thread_num() == leaver % omp_get_num_threads()) {
#pragma omp cancel parallel
        }
        meet();
#pragma omp cancellation point parallel
        ++beyond;
    }
    expect(omp_get_cancellation() ? beyond == 0 : beyond > 0, "a barrier of a cancelled region", p.seed);
}

// One task generates many, more than may be queued. They may wait for an event that it fulfills at its end,
// so it must not wait for them; some generate more.
void with_single_producer(const program &p, draw d) {
    if (omp_in_final() || !d.one_in(4))
        return;
    const unsigned n = 64 + d.below(300), more = 1 + d.below(8);
    const bool held = d.one_in(2);
    std::atomic<unsigned> ended{0}, ended_below{0};
    [[maybe_unused]] int x = 0; // for depend alone
    unsigned expected_below = 0;
#pragma omp taskgroup
    {
        omp_event_handle_t event{};
        if (held) {
#pragma omp task detach(event) depend(out : x)
            {}
        }
        for (unsigned i = 0; i < n; ++i) {
            const bool generates = i % more == 0;
            expected_below += generates ? 1 : 0;
            if (held) {
#pragma omp task depend(in : x) shared(ended, ended_below) firstprivate(generates)
                {
                    ++ended;
                    if (generates) {
#pragma omp task shared(ended_below)
                        ++ended_below;
                    }
                }
            } else {
#pragma omp task shared(ended, ended_below) firstprivate(generates)
                {
                    if (generates) {
#pragma omp task shared(ended_below)
                        ++ended_below;
                    }
                    ++ended;
                }
            }
        }
        if (held) {
            expect(ended == 0, "tasks did not wait for an event", p.seed);
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        expect(ended == n, "tasks of a single producer", p.seed);
    }
    expect(ended_below == expected_below, "tasks of the tasks of a single producer", p.seed);
}

constexpr unsigned kinds = 15;

void node(const program &p, std::uint64_t seed, unsigned depth, std::atomic<long> *count,
          const constraining *me) {
    ++tasks_run;
    draw d{seed};
    const unsigned kind = depth == 0 ? kinds : d.below(kinds);
    switch (kind) {
    case 0:
    case 1:
        with_taskwait(p, d, depth, count, me);
        break;
    case 2:
        with_dependences(p, d);
        break;
    case 3:
        with_taskloop(p, d);
        break;
    case 4:
        if (!omp_in_final())
            with_cancel(p, d);
        break;
    case 5:
        if (p.nested)
            with_region(p, d);
        break;
    case 6:
        if (!on_libgomp)
            with_detach(p, d);
        break;
    case 7:
        if (!on_libgomp)
            with_events(p, d);
        break;
    case 8:
        if (!on_libgomp)
            with_all_memory(p, d);
        break;
    case 9:
        if (p.nested)
            with_cancelled_barrier(p, d);
        break;
    case 10:
        if (!on_libgomp)
            with_single_producer(p, d);
        break;
    case 11:
        with_mutex(p, d, me);
        break;
    case 12:
        with_locks(p, d, me);
        break;
    case 13:
        with_blocking_calls(p, d);
        break;
    default:
        with_yields(p, d);
    }
    ++*count;
}

long size_of(std::uint64_t seed, unsigned depth) {
    draw d{seed};
    const unsigned kind = depth == 0 ? kinds : d.below(kinds);
    return 1 + (kind < 2 ? size_of_children(d, depth) : 0);
}

void run(std::uint64_t seed) {
    draw d{seed};
    const bool nested = d.one_in(2);
    checked_mutex mutex(seed);
    contended locks;
    omp_set_max_active_levels(nested ? 3 : 1);
    const unsigned depth = 2 + d.below(5);
    const int drawn = static_cast<int>(1 + d.below(d.one_in(8) ? 8 : 3)), threads = few_workers ? 4 : drawn;
    const auto members = std::make_unique<std::vector<const constraining *>[]>(threads);
    const auto begun = std::make_unique<char[]>(threads);
    const bool blocks = may_block && d.one_in(4), meets = d.one_in(2);
    const program p{.seed = seed,
                    .nested = nested,
                    .own_data = !nested && !few_workers && !blocks,
                    .blocks = blocks,
                    .mutex = few_workers || blocks ? nullptr : &mutex,
                    .locks = &locks,
                    .members = members.get(),
                    .begun = begun.get()};
    std::atomic<long> count{0};
    std::atomic<int> arrived{0};
    const unsigned ahead = d.one_in(4) ? d.below(40) : 0;
    std::atomic<long> iterations{0};
    const auto implicit = std::make_unique<std::optional<constraining>[]>(threads);
    const bool spins = d.one_in(4) && !few_workers;
    long expected = 0;
    const std::uint64_t root = d.next();
    if (d.one_in(8) && !on_libgomp) { // alone
        with_events(p, d);
        with_all_memory(p, d);
    }
#pragma omp parallel num_threads(threads)
    {
        mine = omp_get_thread_num();
        begun[mine] = 1;
        for (++arrived; spins && arrived < omp_get_num_threads();)
            sched_yield();
        if (meets) {
#pragma omp barrier
        }
        for (unsigned i = 0; i < ahead; ++i) {
#pragma omp for schedule(dynamic) nowait
            for (int each = 0; each < 3; ++each)
                ++iterations;
        }
#pragma omp single nowait
        { expected = size_of(root, depth) * omp_get_num_threads(); }
        const std::uint64_t own = root;
        const program *const q = &p;
        std::atomic<long> *const to = &count;
        constraining &self = implicit[omp_get_thread_num()].emplace(p, nullptr, constraining::implicit);
        const constraining *const me = &self;
#pragma omp task firstprivate(own, depth, q, to, me)
        {
            const constraining here(*q, me, constraining::tied);
            node(*q, own, depth, to, &here);
        }
        self.leave();
    }
    expect(iterations == 3L * ahead, "loops without a barrier", seed);
    expect(count == expected, "not every task ran once", seed);
}

} // namespace

int main(int count, char **arguments) {
    if (count != 3 && count != 4) {
        std::fprintf(
            stderr,
            "usage: random_tasks SEED PROGRAMS [THREADS], or random_tasks --seconds SECONDS [THREADS]\n");
        return 2;
    }
    const bool for_time = std::strcmp(arguments[1], "--seconds") == 0;
    const long threads = count == 4 ? std::atol(arguments[3]) : 1;
    may_block = may_block && !(few_workers && threads > 1);
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::seconds(for_time ? std::atol(arguments[2]) : 0);
    const std::uint64_t first =
        for_time ? static_cast<std::uint64_t>(std::time(nullptr)) : std::strtoull(arguments[1], nullptr, 10);
    const long wanted = for_time ? 0 : std::atol(arguments[2]);
    std::printf("the first seed is %llu\n", static_cast<unsigned long long>(first));
    std::fflush(stdout);
    std::atomic<long> programs{0};
    const auto run_some = [&] {
        while (failures == 0 && (!for_time || clock::now() < end)) {
            const long number = programs.fetch_add(1);
            if (!for_time && number >= wanted)
                return;
            run(first + static_cast<std::uint64_t>(number));
        }
    };
    std::vector<std::thread> others;
    for (long i = 1; i < threads; ++i)
        others.emplace_back(run_some);
    run_some();
    for (std::thread &each : others)
        each.join();
    const long all = for_time ? programs.load() : std::min(programs.load(), wanted);
    std::printf("%ld programs, %ld tasks, the last seed is %llu, %ld failures\n", all, tasks_run.load(),
                static_cast<unsigned long long>(first) + static_cast<unsigned long long>(all) - 1,
                failures.load());
    return failures == 0 ? 0 : 1;
}
