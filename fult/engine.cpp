#include "engine.hpp"

#include <cerrno>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <fult/runtime.hpp>
#include <fult/this_task.hpp>

#include "asymmetric_fence.hpp"
#include "blocking_pool.hpp"
#include "check.hpp"
#include "deadlock.hpp"
#include "debugger.hpp"
#include "dump.hpp"
#include "dump_signal.hpp"
#include "fork_guard.hpp"
#include "locals.hpp"
#include "option_table.hpp"
#include "overflow.hpp"
#include "parker.hpp"
#include "topology.hpp"
#include "virtual_memory.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
namespace {

std::atomic<team *> the_team{nullptr}; // set while a runtime runs
std::atomic<bool> taken{false};        // from the beginning of a start to the end of a stop

constexpr auto stall_report_after = std::chrono::seconds(10);

[[noreturn]] void lacks(const char *what, int error) {
    throw std::system_error(error, std::generic_category(), std::string("fult: ") + what);
}

} // namespace

team *running_team() noexcept {
    return the_team.load(std::memory_order_acquire);
} // pairs with engine's constructor

namespace {
constinit std::mutex looked_at; // held by who looks at the team from outside, and to take it down
}
team_guard::team_guard() noexcept { looked_at.lock(); }
team_guard::~team_guard() { looked_at.unlock(); }

namespace {
constinit std::atomic<unsigned> visitors{0};

void await_visitors() noexcept {
    while (visitors.load(std::memory_order_seq_cst) != 0) { // pairs with team_visit
        parker::ring();                                     // one may be asleep there
        ::sched_yield();
    }
}
} // namespace
team_visit::team_visit() noexcept {
    visitors.fetch_add(1, std::memory_order_seq_cst); // pairs with await_visitors
    crew_ = the_team.load(std::memory_order_seq_cst); // pairs with end_threads
}
team_visit::~team_visit() { visitors.fetch_sub(1, std::memory_order_release); } // pairs with await_visitors

// A running runtime. The constructor leaves nothing behind where it throws.
class engine {
  public:
    explicit engine(const options &asked);
    ~engine();
    const options &in_force() const noexcept { return crew_.opts; }
    blocking_pool &pool() noexcept { return pool_; }

  private:
    static options complete(options asked, const topology &machine);
    static stack_settings stack_settings_of(const options &opts);
    void create_homes();
    void start_threads();
    void end_threads() noexcept;
    void become_main();
    void drain() noexcept;
    void report_waiting() noexcept;
    void refuse_handles() noexcept;
    std::uint64_t living() noexcept;
    std::uint64_t ended() noexcept;
    void destroy_homes() noexcept;

    topology machine_;
    team crew_;
    std::vector<std::thread> threads_;
    blocking_pool pool_;
    task *main_ = nullptr;
    stack main_stack_;
    bool bound_ = false;
    overflow_reports overflows_;
    signal_stack for_reports_; // the main task's thread's
    std::optional<dump_on_signal> reports_;
};

options engine::complete(options o, const topology &machine) {
    if (o.workers == 0)
        o.workers = std::min(machine.usable(), sleepers::capacity);
    const std::size_t page = page_size();
    o.stack_size = (o.stack_size + page - 1) / page * page;
    // An odd number of pages: with a power of two the hot ends of all stacks would fall into the same few
    // sets of the buffer of translations, and a thousand suspended tasks would miss it at each switch.
    o.stack_size |= page;
    o.bind = o.bind && o.workers <= machine.usable();
    return o;
}

stack_settings engine::stack_settings_of(const options &o) {
    return {o.stack_size, o.stacks_kept, o.guard, o.trim_after, o.fp_env == fp_mode::shared};
}

engine::engine(const options &asked)
    : crew_((validate(asked), complete(asked, machine_)), stack_settings_of(complete(asked, machine_))),
      pool_(asked.blocking_threads, crew_.idle_blocking) {
    std::fegetenv(&crew_.fp_at_start);
    crew_.count = crew_.opts.workers;
    crew_.processors = machine_.usable();
    crew_.alone = crew_.count == 1 || !crew_.opts.stealing;
    crew_.private_words = crew_.opts.private_words && asymmetric_fence_available();
    first_hinted_word = crew_.opts.levels == level_mode::automatic ? words_in_line
                        : crew_.opts.levels == level_mode::two     ? 0
                                                                   : max_slots;
    try {
        create_homes();
        become_main();
        start_threads();
        reports_.emplace(crew_.opts.dump_signal, crew_.helpers);
    } catch (...) {
        end_threads();
        if (main_)
            crew_.homes[0]->leave_thread();
        destroy_homes();
        throw;
    }
}

void engine::create_homes() {
    crew_.homes.reserve(crew_.count + 1);
    for (unsigned i = 0; i <= crew_.count; ++i)
        crew_.homes.push_back(worker::create(crew_, i));
    for (unsigned i = 0; i < crew_.count; ++i) {
        crew_.homes[i]->set_neighbours(crew_.alone ? std::vector<std::vector<unsigned>>{}
                                                   : machine_.neighbours(i, crew_.count));
        if (!crew_.homes[i]->open_stacks(i == 0))
            lacks("no memory for the first stacks; lower FULT_STACK_SIZE or FULT_WORKERS", ENOMEM);
    }
}

// The caller's stack becomes the main task's. It is running, so it is busy: nobody can claim it before its
// registers are saved.
void engine::become_main() {
    worker &first = *crew_.homes[0];
    first.enter_thread();
    main_ = first.take_own_slot();
    main_->pinned = true;
    first.adopt_main(main_, &main_stack_);
}

void engine::start_threads() {
    threads_.reserve(crew_.count - 1);
    the_team.store(&crew_, std::memory_order_release); // pairs with running_team
    tell_debugger(crew_);
    for (unsigned i = 1; i < crew_.count; ++i)
        try {
            threads_.emplace_back([this, i] {
                if (crew_.opts.bind)
                    machine_.bind(i, crew_.count);
                worker &w = *crew_.homes[i];
                const signal_stack for_reports;
                w.enter_thread();
                w.serve();
                w.leave_thread();
            });
        } catch (const std::system_error &error) {
            throw std::system_error(
                error.code(), "fult: worker " + std::to_string(i) + " of " + std::to_string(crew_.count) +
                                  " got no thread; lower FULT_WORKERS or raise `ulimit -u`");
        }
    // Last: new threads inherit the mask, and would have to wait for this one's core to leave it.
    if (crew_.opts.bind)
        bound_ = machine_.bind(0, crew_.count);
}

void engine::end_threads() noexcept {
    crew_.stopping.store(true, std::memory_order_seq_cst); // pairs with nap
    for (unsigned i = 0; i < crew_.count && i < crew_.homes.size(); ++i)
        crew_.wake(i);
    for (std::thread &each : threads_)
        each.join();
    threads_.clear();
    {
        const team_guard nobody_looks;
        the_team.store(nullptr, std::memory_order_seq_cst); // pairs with team_visit
        tell_debugger_of_none();
    }
    await_visitors();
    if (bound_)
        machine_.unbind();
}

void engine::destroy_homes() noexcept {
    for (worker *w : crew_.homes)
        worker::destroy(w);
    crew_.homes.clear();
}

// Living tasks but the main one.
std::uint64_t engine::living() noexcept {
    std::uint64_t count = 0;
    for (worker *w : crew_.homes)
        count += w->living();
    return count - 1;
}

std::uint64_t engine::ended() noexcept {
    std::uint64_t count = 0;
    for (worker *w : crew_.homes)
        count += w->ended();
    return count;
}

// Ends the program where nothing is left but tasks that have ended, and nobody can join them: the one thread
// that has their handles waits here.
void engine::refuse_handles() noexcept {
    crew_.counting.lock();
    const bool counted = crew_.asleep.count() == crew_.count - 1;
    const std::uint64_t waiting = counted ? ended() : 0;
    const bool only_these = waiting != 0 && waiting == living();
    crew_.counting.unlock();
    if (only_these && no_other_thread(crew_))
        fatal("runtime",
              "its end waits for %llu task(s) that have ended and were neither joined nor detached: their "
              "handles "
              "outlive the runtime; join or destroy each handle before the runtime",
              static_cast<unsigned long long>(waiting));
}

void engine::report_waiting() noexcept {
    const std::uint64_t joinable = ended(), blocked = living() - joinable;
    if (joinable != 0)
        warn("the runtime is to stop and waits for %llu task(s) that have ended and were neither joined nor "
             "detached: another thread must do so, or their handles outlive the runtime",
             static_cast<unsigned long long>(joinable));
    if (blocked == 0)
        return;
    warn(
        "the runtime is to stop and waits for %llu task(s) that are blocked and that no other task can wake; "
        "signal them, or do not end the runtime before them",
        static_cast<unsigned long long>(blocked));
    if (crew_.opts.deadlock == deadlock_mode::off || crew_.judges.load(std::memory_order_acquire) != 0 ||
        !only_tasks_can_wake(crew_) ||
        crew_.told_deadlock.exchange(true, std::memory_order_relaxed))
        return;
    write_report(STDERR_FILENO);
    if (crew_.opts.deadlock == deadlock_mode::abort)
        std::abort();
}

// Lets the others run until no task is left. The count is exact only when all other workers sleep, and none
// gets on meanwhile: then nobody spawns.
void engine::drain() noexcept {
    worker &first = *crew_.homes[0];
    auto moved = std::chrono::steady_clock::now();
    for (unsigned idle = 0;;) {
        const bool own =
            crew_.outside.poll() || first.has_work() || crew_.foreign_home().tasks.seems_public();
        // What lies elsewhere is its worker's first; but that one may compute until a task has run that lies
        // there.
        if (own || (idle != 0 && first.work_anywhere(true))) {
            this_task::yield();
            if (own)
                idle = 0;
            moved = std::chrono::steady_clock::now();
            continue;
        }
        crew_.counting.lock();
        const bool over = crew_.asleep.count() == crew_.count - 1 && living() == 0;
        crew_.counting.unlock();
        if (over && !first.has_work())
            return;
        // Others run what is left, or it waits for a foreign thread's signal.
        std::this_thread::sleep_for(std::chrono::microseconds(idle < 20 ? 20 : 1000));
        if (++idle % 1000 == 20) // soon, then about once a second
            refuse_handles();
        if (crew_.asleep.count() < crew_.count - 1 || crew_.outside.expect_something() || pool_.busy())
            moved = std::chrono::steady_clock::now();
        else if (std::chrono::steady_clock::now() - moved > stall_report_after) {
            report_waiting();
            moved = std::chrono::steady_clock::now();
        }
    }
}

engine::~engine() {
    worker *w = this_worker();
    if (!w || w->current != main_)
        fatal("runtime", "stopped by something else than the main task; let the runtime's owner live in the "
                         "function that started it");
    crew_.ending.store(true, std::memory_order_relaxed); // idle workers go to sleep sooner
    drain();
    if (main_->extras)
        end_locals(*main_->extras);
    drain();      // of what the ends of its locals have spawned
    pool_.stop(); // who has signaled the last task may still be about to wake a worker
    reports_.reset();
    w->set_extras(main_, nullptr);
    end_threads();
    w->leave_thread();
    destroy_homes();
}

namespace {
alignas(engine) std::byte engine_place[sizeof(engine)];
engine &the_engine() noexcept { return *std::launder(reinterpret_cast<engine *>(engine_place)); }
} // namespace

void start_engine(const options &opts) {
    if (in_forked_child())
        throw std::logic_error(
            "fult: this process was forked while a runtime ran; it can have none before exec");
    if (in_task())
        throw std::logic_error("fult: a runtime is running already, and this is one of its tasks");
    if (taken.exchange(true, std::memory_order_acq_rel))
        throw std::logic_error("fult: a runtime is running already; one process has one at a time");
    try {
        watch_forks();
        ::new (engine_place) engine(opts);
    } catch (...) {
        taken.store(false, std::memory_order_release);
        throw;
    }
}

void stop_engine() noexcept {
    if (in_forked_child()) // its parent's runtime: nothing of it is here to be ended
        return;
    the_engine().~engine();
    taken.store(false, std::memory_order_release);
}

const options &engine_options() noexcept { return the_engine().in_force(); }
blocking_pool &engine_pool() noexcept { return the_engine().pool(); }

} // namespace detail

runtime::runtime(const options &opts) { detail::start_engine(opts); }
runtime::~runtime() { detail::stop_engine(); }
const options &runtime::in_force() const noexcept { return detail::engine_options(); }

unsigned worker_count() noexcept {
    const detail::team *crew = detail::running_team();
    return crew ? crew->count : 0;
}

} // namespace fult
