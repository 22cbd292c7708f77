#include "threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/more_workers.hpp>
#include <fult/detail/runtime_user.hpp>
#include <fult/detail/service.hpp>
#include <fult/fult.hpp>

#include "binding.hpp"
#include "error.hpp"
#include "fork.hpp"
#include "holders.hpp"
#include "icv.hpp"
#include "last_thread.hpp"
#include "other_libraries.hpp"
#include "tasks.hpp"
#include "team.hpp"

namespace fult::omp {
namespace {

constexpr unsigned max_workers = 1024;

// Of the runtime that runs, which may be the program's own. Its end forgets them (forget_runtime).
constinit std::atomic<unsigned> workers{0};
constinit std::atomic<unsigned> ready{0};             // workers, or 0 while the runtime may be about to end
std::atomic<fult::runtime *> own{nullptr};            // started here, on the initial thread
std::atomic<const detail::task *> main_task{nullptr}; // of that one
bool cannot_grow = false;   // it gets no more workers; this and the next under its mutex
unsigned used_together = 0; // workers of the largest team so far
constinit std::atomic<unsigned> worker_limit{max_workers}; // what it has, if it gets no more

std::atomic<bool> started_elsewhere{false}; // started here, on a thread of its own: it does not end
std::atomic<bool> is_child{false};          // of a fork: the threads are the parent's
std::atomic<bool> program_ends_its{false};  // a runtime of the program's own ends
std::atomic<unsigned> awaiting_end{0};      // open regions that have no workers yet, and wait for that
std::atomic<thread_state *> worker_threads[max_workers]; // by number, in all runtimes

// As deep as a thread's stack is by default: programs recurse in tasks as they do in threads. But there are
// more tasks than threads, and addresses do not suffice for many of a gigabyte.
std::size_t default_stack() noexcept {
    rlimit limit{};
    constexpr std::size_t usual = std::size_t{8} << 20, most = std::size_t{256} << 20;
    if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return usual;
    return limit.rlim_cur < most ? static_cast<std::size_t>(limit.rlim_cur) : most;
}

// Microseconds by GOMP_SPINCOUNT and its kin, or by OMP_WAIT_POLICY. Threads that outnumber the processors
// never spin for long.
unsigned idle_spin(unsigned usual, unsigned threads) noexcept {
    constexpr unsigned active = 10'000;
    const program_icvs &p = icvs_of_program();
    const unsigned wanted = p.idle_spin >= 0 ? static_cast<unsigned>(p.idle_spin)
                            : p.wait_passive ? 0
                            : p.wait_active  ? active
                                             : usual;
    return threads <= static_cast<unsigned>(usual_threads()) ? wanted : std::min(wanted, usual);
}

// Of a region that does not ask for a number.
unsigned threads_of_region() noexcept {
    const int usual = icvs_of_program().first.threads;
    return static_cast<unsigned>(usual > 0 ? usual : usual_threads());
}

fult::options options_for(unsigned threads) {
    fult::options o = fult::read_options();
    // Regions bind their threads (binding.hpp). By default none is bound: the initial thread is a worker, and
    // threads that it starts inherit its processors.
    if (!std::getenv("FULT_BIND"))
        o.bind = bind_mode::off;
    if (o.bind != bind_mode::off || !o.stealing) // it may get no more workers (engine::add_workers)
        threads = std::max(threads, threads_of_region());
    if (!std::getenv("FULT_WORKERS"))
        o.workers = std::min(threads, max_workers);
    if (!std::getenv("FULT_IDLE_SPIN"))
        o.idle_spin = idle_spin(o.idle_spin, threads);
    if (!std::getenv("FULT_STACK_SIZE"))
        o.stack_size = stack_size_of_threads();
    return o;
}

void start(unsigned threads) {
    report_other_libraries();
    // New threads inherit this one's processors.
    if (binds_threads())
        unbind_thread(this_thread());
    if (is_initial_thread()) {
        watch_initial_thread();
        own.store(new fult::runtime(options_for(threads)), std::memory_order_relaxed);
        main_task.store(detail::running_task(), std::memory_order_relaxed);
        return;
    }
    // Worker 0 is a thread of the library's: its main task never ends.
    std::atomic<int> done{0};
    std::exception_ptr error;
    std::thread([&done, &error, threads] {
        try {
            new fult::runtime(options_for(threads));
        } catch (...) {
            error = std::current_exception();
        }
        const bool failed = error != nullptr;
        done.store(1, std::memory_order_release);
        done.notify_one();
        if (failed)
            return;
        for (;;)
            fult::this_task::wait();
    }).detach();
    done.wait(0, std::memory_order_acquire);
    if (error)
        std::rethrow_exception(error);
    started_elsewhere.store(true, std::memory_order_relaxed);
}

// The program knows nothing about the number of its workers.
bool is_own() noexcept {
    return own.load(std::memory_order_relaxed) || started_elsewhere.load(std::memory_order_relaxed);
}

// The next one may be of another size, and has other threads. Under the mutex.
void forget_runtime() noexcept {
    ready.store(0, std::memory_order_relaxed);
    workers.store(0, std::memory_order_relaxed);
    worker_limit.store(max_workers, std::memory_order_relaxed);
    own.store(nullptr, std::memory_order_relaxed);
    main_task.store(nullptr, std::memory_order_relaxed);
    cannot_grow = false;
    used_together = 0;
    for_each_worker_state([](thread_state &each) { each.bound.store(-1, std::memory_order_relaxed); });
}

// Regions that have workers when a runtime of the program's is about to end go on in it, and its end waits
// for them; others begin in the next one. A region is counted before it reads `ready`: so one of the two sees
// the other. What is done to the library's own one is release_workers' business.
class user_of_runtimes final : public detail::runtime_user {
  public:
    const char *objection() const noexcept override {
        return task_on_worker() ? "ended in a parallel region of OpenMP; end it after the region" : nullptr;
    }
    void ends() noexcept override {
        if (is_own())
            return;
        const std::lock_guard lock(mutex_of(shared_state::runtime));
        program_ends_its.store(true, std::memory_order_relaxed);
        ready.store(0, std::memory_order_seq_cst); // pairs with ensure_workers
    }
    bool is_in_use() const noexcept override {
        // in this order: regions that come in between are in the second number alone
        const unsigned waiting = awaiting_end.load(std::memory_order_seq_cst); // pairs with await_end
        return !is_own() && open_regions() != waiting;
    }
    void ended() noexcept override {
        if (is_own()) {
            forget_runtime();
            return;
        }
        const std::lock_guard lock(mutex_of(shared_state::runtime));
        forget_runtime();
        program_ends_its.store(false, std::memory_order_release); // pairs with await_end
        program_ends_its.notify_all();
    }
};
constinit user_of_runtimes this_library;

[[gnu::constructor]] void use_runtimes() noexcept { detail::set_runtime_user(this_library); }

// By a foreign thread that opens a region. In a task there is nothing to wait for: the runtime does not end
// before it.
void await_end() noexcept {
    if (!program_ends_its.load(std::memory_order_acquire))
        return;
    awaiting_end.fetch_add(1, std::memory_order_seq_cst);   // pairs with is_in_use
    program_ends_its.wait(true, std::memory_order_acquire); // pairs with ended
    awaiting_end.fetch_sub(1, std::memory_order_seq_cst);
}

// In the child of a fork there are no workers, so the thread is none: its regions have one member, and their
// tasks are undeferred.
void leave_runtime_of_parent() noexcept {
    detail::run_as(detail::current_worker(), nullptr);
    is_child.store(true, std::memory_order_relaxed);
    program_ends_its.store(false, std::memory_order_relaxed);
}

void make_states(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
        if (!worker_threads[i].load(std::memory_order_relaxed)) {
            auto *const p = new thread_state;
            p->worker = i;
            worker_threads[i].store(p, std::memory_order_release);
        }
}

// The threads that there are stay. A new worker may run a task at once, and finds its state. What has failed
// once is not tried again.
void grow(unsigned threads) {
    FULT_ASSERT(threads <= max_workers);
    if (!is_own() || threads <= workers.load(std::memory_order_relaxed) || cannot_grow)
        return;
    cannot_grow = true;
    make_states(threads);
    cannot_grow = detail::add_workers(threads) < threads;
}

// So many threads are used at once, by one team. Members that outnumber the processors wait for each other's:
// an idle one gives its processor up between looks.
void adapt_to(unsigned together) noexcept {
    used_together = together;
    const bool shares = together > static_cast<unsigned>(usual_threads());
    detail::share_processors(shares);
    join_gate::set_patience(shares || icvs_of_program().wait_passive || icvs_of_program().idle_spin == 0);
    if (is_own() && !std::getenv("FULT_IDLE_SPIN"))
        detail::set_idle_spin(idle_spin(fult::options{}.idle_spin, together));
}

// Of the runtime that runs now. `together`: as many are used at once, by one team.
unsigned begin_with_workers(unsigned together) {
    const unsigned now = std::min(static_cast<unsigned>(fult::worker_count()), max_workers);
    if (std::getenv("FULT_WORKERS") || cannot_grow || !is_own())
        worker_limit.store(now, std::memory_order_relaxed);
    make_states(now);
    together = std::min(together, now);
    if (together > used_together || !is_own())
        adapt_to(together);
    workers.store(now, std::memory_order_release);
    if (!program_ends_its.load(std::memory_order_relaxed))
        ready.store(now, std::memory_order_release);
    await_last_thread(); // if the initial one has ended
    return now;
}

// Empty: a runtime of the program's own ends, or another thread starts one right now.
std::optional<unsigned> try_to_ensure(unsigned threads) {
    const std::lock_guard lock(mutex_of(shared_state::runtime));
    if (is_child.load(std::memory_order_relaxed))
        return 0;
    if (!detail::running_task() && program_ends_its.load(std::memory_order_relaxed))
        return {};
    threads = std::min(threads, worker_limit.load(std::memory_order_relaxed));
    try {
        if (fult::worker_count() == 0) {
            start(threads);
            threads = static_cast<unsigned>(fult::worker_count());
        } else {
            grow(threads);
        }
    } catch (const detail::runtime_is_taken &) {
        return {};
    } catch (const std::exception &error) {
        if (fult::worker_count() == 0)
            fail("the runtime cannot be started with %u threads (OMP_NUM_THREADS, num_threads): %s", threads,
                 error.what());
    }
    if (static bool watched = false; !std::exchange(watched, true))
        ::pthread_atfork(nullptr, nullptr, &leave_runtime_of_parent);
    return begin_with_workers(threads);
}

FULT_NOINLINE unsigned ensure_workers_slowly(unsigned threads) {
    for (;;) {
        if (!detail::running_task())
            await_end();
        if (const std::optional<unsigned> have = try_to_ensure(threads))
            return *have;
        ::sched_yield();
    }
}

} // namespace

unsigned ensure_workers(unsigned threads) {
    FULT_ASSERT(threads != 0);
    const unsigned enough = std::min(threads, worker_limit.load(std::memory_order_relaxed));
    // The runtime of a task does not end before it.
    const unsigned have = detail::running_task()
                              ? workers.load(std::memory_order_acquire)
                              : ready.load(std::memory_order_seq_cst); // pairs with ends, release_workers
    if (have >= enough && !is_child.load(std::memory_order_relaxed)) [[likely]]
        return have;
    return ensure_workers_slowly(threads);
}

unsigned add_workers(unsigned threads) noexcept {
    threads = std::min(threads, worker_limit.load(std::memory_order_relaxed));
    const std::lock_guard lock(mutex_of(shared_state::runtime));
    if (!is_own() || is_child.load(std::memory_order_relaxed))
        return started_workers();
    try {
        grow(threads);
    } catch (const std::exception &) { // members share those that there are
    }
    return begin_with_workers(0);
}

bool is_initial_thread() noexcept { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

int thread_state::next_id() noexcept {
    static std::atomic<int> next{0};
    return next.fetch_add(1, std::memory_order_relaxed);
}

std::size_t stack_size_of_threads() noexcept {
    return icvs_of_program().stack_size != 0 ? icvs_of_program().stack_size : default_stack();
}

unsigned started_workers() noexcept {
    const unsigned have = workers.load(std::memory_order_acquire);
    return is_child.load(std::memory_order_relaxed) ? 0 : have;
}

// Only where no task can be running, in the initial task of the initial thread. A foreign thread counts its
// region before it asks for workers, and waits for the mutex if it finds none ready: so one of the two sees
// the other. A runtime that others poll by, as fult-comm does, stays: their messages would wake nothing in
// the next one.
void release_workers() noexcept {
    const std::lock_guard lock(mutex_of(shared_state::runtime));
    fult::runtime *const runtime = own.load(std::memory_order_relaxed);
    if (!runtime || started_workers() == 0 || task_on_worker() || !is_initial_thread() ||
        detail::has_services())
        return;
    ready.store(0, std::memory_order_seq_cst); // pairs with ensure_workers
    if (open_regions() == 0)
        delete runtime; // forget_runtime
    else
        ready.store(workers.load(std::memory_order_relaxed), std::memory_order_release);
}

unsigned workers_for_one() {
    return started_workers() != 0 || !is_initial_thread() ? started_workers() : ensure_workers(1);
}

bool is_thread_of_program() noexcept {
    const detail::task *const t = detail::running_task();
    return !t || t == main_task.load(std::memory_order_relaxed);
}

bool runtime_is_own() noexcept { return is_own(); }

bool worker_0_may_block() noexcept { return !started_elsewhere.load(std::memory_order_relaxed); }

void for_each_worker_state(const std::function<void(thread_state &)> &each) {
    for (const auto &at : worker_threads)
        if (thread_state *const p = at.load(std::memory_order_acquire))
            each(*p);
}

thread_state *worker_thread(unsigned worker) {
    FULT_ASSERT(worker < workers.load(std::memory_order_relaxed), "a worker that was started has its state");
    return worker_threads[worker].load(std::memory_order_acquire);
}

namespace {
// States outlive their threads: late readers may look at them. A new thread takes one that is unused.
std::vector<thread_state *> &unused() {
    static auto *const list = new std::vector<thread_state *>;
    return *list;
}

// A pointer that needs no look whether it has been constructed.
constinit thread_local thread_state *foreign_thread = nullptr;
struct end_of_foreign_thread {
    ~end_of_foreign_thread() {
        release_held_workers(*foreign_thread);
        foreign_thread->bound.store(-1, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_of(shared_state::thread_states));
        unused().push_back(std::exchange(foreign_thread, nullptr));
    }
};

FULT_NOINLINE thread_state *begin_foreign_thread() {
    {
        const std::lock_guard lock(mutex_of(shared_state::thread_states));
        if (!unused().empty()) {
            foreign_thread = unused().back();
            unused().pop_back();
        } else {
            foreign_thread = new thread_state;
        }
    }
    static thread_local const end_of_foreign_thread at_end;
    return foreign_thread;
}
FULT_NOINLINE thread_state *own_foreign_thread() {
    return foreign_thread ? foreign_thread : begin_foreign_thread();
}
} // namespace

thread_state *this_thread() noexcept {
    if (detail::running_task() && workers.load(std::memory_order_relaxed) != 0)
        if (thread_state *const p = worker_threads[this_task::worker()].load(std::memory_order_acquire))
            return p;
    return own_foreign_thread();
}

bool is_here(const thread_state *at) noexcept {
    if (at->worker == thread_state::no_worker)
        return at == foreign_thread;
    return detail::running_task() && static_cast<unsigned>(this_task::worker()) == at->worker;
}

// The initial task of a thread ------------------------------------------------------------------------------------------------

namespace {
struct initial_thread final : omp_task {
    team alone;
    omp_task *current = this; // of a thread that runs no OpenMP task of the runtime's
    initial_thread() : omp_task(nullptr, nullptr, is_implicit | generates_slowly, 0) {
        own_icvs = &icvs_of_program().first;
        at = nullptr;
        init_team(alone, 1);
        alone.is_serial = true;
        alone.members[0].implicit = this;
        self = &alone.members[0];
    }
    void set_thread(thread_state *p) noexcept {
        FULT_ASSERT(is_here(p));
        if (at == p) // members of regions in it read these
            return;
        alone.members[0].at = p;
        start(&alone.members[0], p, unknown);
    }
};
constinit thread_local initial_thread *the_initial_thread = nullptr;
// Other threads complete detached tasks, also those that it has waited for, and then count their trees.
struct end_of_initial_task {
    ~end_of_initial_task() { become_zombie(std::exchange(the_initial_thread, nullptr), 0); }
};

FULT_NOINLINE initial_thread &begin_initial_thread() {
    the_initial_thread = new initial_thread;
    static thread_local const end_of_initial_task at_end;
    return *the_initial_thread;
}
FULT_NOINLINE initial_thread &own_initial_thread() {
    return the_initial_thread ? *the_initial_thread : begin_initial_thread();
}

} // namespace

void delete_initial_task(omp_task *f) noexcept { delete static_cast<initial_thread *>(f); }

FULT_NOINLINE omp_task *initial_task() {
    FULT_ASSERT(!task_on_worker(), "the thread has no task yet");
    initial_thread &mine = own_initial_thread();
    // the thread may have become a worker, or have ceased to be one
    thread_state *const here = this_thread();
    mine.set_thread(here);
    if (mine.current != &mine && mine.current->in()->level == 0) { // in a target region or a league
        mine.current->self->at = here;
        mine.current->in()->placed_by = {};
        mine.current->start(mine.current->self, here, omp_task::unknown);
    }
    return mine.current;
}

bool run_plain_elsewhere(void (*function)(void *), void *data, std::uint32_t flags, bool may_defer) {
    initial_thread *const mine = the_initial_thread;
    const bool settled = mine && mine->current->at == foreign_thread && !detail::running_task(); // as it was
    omp_task *const me = settled ? mine->current : initial_task();
    if (may_defer && !((me->flags | flags) & generates_slowly))
        return false; // of a region whose other members are workers
    if (settled)
        run_plain(me, mine->current, function, data, flags);
    else
        run_plain_slowly(me, function, data, flags);
    return true;
}

void set_current_task(omp_task *f) noexcept {
    detail::task *const t = detail::running_task();
    if (t && t->ops == &omp_task_ops)
        stored_omp_task(t) = f;
    else
        own_initial_thread().current = f;
}

} // namespace fult::omp

void fult_omp_start_runtime() {
    if (fult::worker_count() == 0 || fult::omp::is_own())
        fult::omp::ensure_workers(fult::omp::threads_of_region());
}
