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

#include <fult/detail/forked.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/more_workers.hpp>
#include <fult/detail/runtime_user.hpp>
#include <fult/runtime.hpp>
#include <fult/this_task.hpp>

#include "blocking_pool.hpp"
#include "deadlock.hpp"
#include "fult/base/asymmetric_fence.hpp"
#include "fult/base/check.hpp"
#include "fult/base/kernel_thread.hpp"
#include "fult/base/option_table.hpp"
#include "fult/base/start_affinity.hpp"
#include "fult/inspection/debugger.hpp"
#include "fult/inspection/dump.hpp"
#include "fult/inspection/dump_signal.hpp"
#include "fult/inspection/overflow.hpp"
#include "fult/memory/home_memory.hpp"
#include "fult/memory/virtual_memory.hpp"
#include "fult/scheduler/binding.hpp"
#include "fult/scheduler/parker.hpp"
#include "fult/scheduler/topology.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"

namespace fult {
namespace detail {
namespace {

std::atomic<worker_team *> the_team{nullptr}; // set while a runtime runs
std::atomic<bool> taken{false};               // from the start of a constructor to the end of a stop
std::atomic<runtime_user *> the_user{nullptr};

constexpr auto stall_report_after = std::chrono::seconds(10);

[[noreturn]] void throw_shortage(const char *what, int error) {
    throw std::system_error(error, std::generic_category(), std::string("fult: ") + what);
}

} // namespace

worker_team *running_team() noexcept {
    return the_team.load(std::memory_order_acquire);
} // pairs with engine's constructor

namespace {
// held while the team is inspected from outside, and while it is taken down
constinit std::mutex inspection_mutex;
} // namespace
team_guard::team_guard() noexcept { inspection_mutex.lock(); }
team_guard::~team_guard() { inspection_mutex.unlock(); }

namespace {
constinit std::atomic<unsigned> visitors{0};

void await_visitors() noexcept {
    while (visitors.load(std::memory_order_seq_cst) != 0) { // pairs with team_visit
        parker::ring();                                     // a visitor may be asleep there
        ::sched_yield();
    }
}
} // namespace
void team_visit::begin() noexcept {
    visitors.fetch_add(1, std::memory_order_seq_cst); // pairs with await_visitors
    is_counted_ = true;
    team_ = the_team.load(std::memory_order_seq_cst); // pairs with end_threads
}
void team_visit::end() noexcept {
    visitors.fetch_sub(1, std::memory_order_release); // pairs with await_visitors
}

// A running runtime. If the constructor throws, everything is undone.
class engine {
  public:
    explicit engine(const options &asked);
    ~engine();
    unsigned add_workers(unsigned wanted); // under team_guard
    const options &effective_options() const noexcept { return team_.opts; }
    blocking_pool &pool() noexcept { return pool_; }

  private:
    static options complete_options(options asked, const topology &machine);
    static stack_settings stack_settings_of(const options &opts);
    std::vector<std::vector<unsigned>> neighbours_of(unsigned worker, unsigned workers, unsigned most) const;
    void create_homes();
    kernel_thread thread_of(unsigned index);
    bool may_grow() const noexcept;
    bool needs_hints(unsigned workers) const noexcept;
    void add_worker();
    void introduce(worker &added) noexcept;
    void start_threads();
    void end_threads() noexcept;
    void become_main();
    void announce_end() noexcept;
    void drain() noexcept;
    void report_waiting() noexcept;
    void refuse_handles() noexcept;
    bool can_count() const noexcept;
    std::uint64_t count_living() noexcept;
    std::uint64_t count_ended() noexcept;
    void destroy_homes() noexcept;

    topology machine_;
    worker_team team_;
    std::vector<kernel_thread> threads_;
    blocking_pool pool_;
    runtime_user *user_ = nullptr; // at the end
    task *main_ = nullptr;
    bool bound_ = false;
    fault_reports fault_reports_;
    signal_stack signal_stack_; // for the thread of the main task
    std::optional<dump_on_signal> dump_on_signal_;
};

options engine::complete_options(options o, const topology &machine) {
    if (o.workers == 0)
        o.workers = std::min(machine.usable(), worker_bits::capacity);
    const std::size_t page = page_size();
    o.stack_size = (o.stack_size + page - 1) / page * page;
    // An odd number of pages: with a power of two the hot ends of all stacks would fall into the same few TLB
    // sets, and a thousand suspended tasks would miss the TLB at each switch.
    o.stack_size |= page;
    o.bind = decide_binding(machine.binding_facts_of(o)).bind ? bind_mode::on : bind_mode::off;
    return o;
}

stack_settings engine::stack_settings_of(const options &o) {
    return {o.stack_size,
            o.stacks_kept,
            o.guard,
            o.trim_after,
            o.fp_env == fp_mode::shared,
            mappings_of_home * (o.workers + 1)};
}

engine::engine(const options &asked)
    : team_((validate(asked), complete_options(asked, machine_)),
            stack_settings_of(complete_options(asked, machine_))),
      pool_(asked.blocking_threads, team_.idle_blocking) {
    std::fegetenv(&team_.fp_at_start);
    team_.set_count(team_.opts.workers);
    team_.processors = machine_.usable();
    team_.stealing_disabled = !team_.opts.stealing;
    team_.private_words = team_.opts.private_words && asymmetric_fence_available();
    if (may_grow() || needs_hints(team_.count()))
        team_.crowd.open(team_.count());
    if (needs_hints(team_.count()))
        team_.crowd.begin();
    try {
        create_homes();
        become_main();
        start_threads();
        dump_on_signal_.emplace(team_.opts.dump_signal, team_.helpers);
        team_.closed.store(false, std::memory_order_release); // pairs with admit: the start is certain
    } catch (...) {
        end_threads();
        if (main_)
            team_.homes[0]->leave_thread();
        destroy_homes();
        throw;
    }
}

namespace {
// The nearest ones. Of the last group those behind this worker: else all would look at the same few.
void keep_nearest(std::vector<std::vector<unsigned>> &groups, unsigned worker, std::size_t most) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < groups.size(); kept += groups[i++].size()) {
        std::vector<unsigned> &group = groups[i];
        if (group.size() <= most - kept)
            continue;
        std::rotate(group.begin(), std::upper_bound(group.begin(), group.end(), worker), group.end());
        group.resize(most - kept);
    }
    std::erase_if(groups, [](const auto &group) { return group.empty(); });
}
} // namespace

// Of `worker`, at most so many. Of one that runs anywhere, no other is nearer.
std::vector<std::vector<unsigned>> engine::neighbours_of(unsigned worker, unsigned workers,
                                                         unsigned most) const {
    if (team_.stealing_disabled)
        return {};
    if (team_.opts.bind == bind_mode::on) {
        std::vector<std::vector<unsigned>> groups = machine_.neighbours(worker, workers);
        keep_nearest(groups, worker, most);
        return groups;
    }
    std::vector<unsigned> others;
    for (unsigned i = 1; i < workers && i <= most; ++i)
        others.push_back((worker + i) % workers);
    return {others};
}

void engine::create_homes() {
    team_.homes[worker_team::foreign_index] = worker::create(team_, worker_team::foreign_index);
    for (unsigned i = 0; i < team_.count(); ++i)
        team_.homes[i] = worker::create(team_, i);
    for (unsigned i = 0; i < team_.count(); ++i) {
        team_.homes[i]->set_neighbours(neighbours_of(i, team_.count(), neighbours::max_neighbours));
        if (!team_.homes[i]->open_stacks())
            throw_shortage("no memory for the first stacks; lower FULT_STACK_SIZE or FULT_WORKERS", ENOMEM);
    }
}

// The caller's stack becomes the main task's. The main task is running, hence busy: it cannot be claimed
// before its registers are saved.
void engine::become_main() {
    worker &first = *team_.homes[0];
    first.enter_thread();
    main_ = first.slots.take_own();
    main_->pinned = true;
    first.adopt_main(main_);
}

void engine::start_threads() {
    threads_.reserve(team_.count() - 1);
    // Until nothing can fail any more: what a foreign thread had spawned would be lost.
    team_.closed.store(true, std::memory_order_relaxed);
    the_team.store(&team_, std::memory_order_release); // pairs with running_team
    publish_debug_table(team_);
    for (unsigned i = 1; i < team_.count(); ++i)
        try {
            threads_.push_back(thread_of(i));
        } catch (const std::system_error &error) {
            throw std::system_error(error.code(), "fult: cannot start a thread for worker " +
                                                      std::to_string(i) + " of " +
                                                      std::to_string(team_.count()) +
                                                      "; lower FULT_WORKERS or raise `ulimit -u`");
        }
    // Last: new threads inherit the mask and would have to wait for this one's core.
    if (team_.opts.bind == bind_mode::on)
        bound_ = machine_.bind(0, team_.count());
}

// It begins when the worker is counted. Pinned tasks run on its stack.
kernel_thread engine::thread_of(unsigned index) {
    return kernel_thread(team_.stacks.ordinary_size(), team_.stacks.guard_size(), [this, index] {
        team_.await_count(index + 1);
        if (team_.opts.bind == bind_mode::on)
            machine_.bind(index, team_.count());
        else if (index >= team_.opts.workers)
            run_on_processors_at_start(); // not where the thread runs that has added this one
        worker &w = *team_.homes[index];
        const signal_stack for_reports;
        w.enter_thread();
        w.serve();
        w.leave_thread();
    });
}

// Workers of a running runtime ----------------------------------------------------------------------------------

// Workers with processors of their own leave none over.
bool engine::may_grow() const noexcept {
    return !team_.stealing_disabled && team_.opts.bind == bind_mode::off;
}

// They do not all look at each other one by one.
bool engine::needs_hints(unsigned workers) const noexcept {
    return !team_.stealing_disabled && workers > neighbours::max_neighbours + 1;
}

unsigned engine::add_workers(unsigned wanted) {
    if (!may_grow() || team_.closed.load(std::memory_order_acquire)) // closed: it starts, or ends
        return team_.count();
    while (team_.count() < std::min(wanted, worker_team::max_workers))
        add_worker();
    return team_.count();
}

// What can fail comes first: no other thread has seen the new worker then.
void engine::add_worker() {
    const unsigned index = team_.count();
    worker &added = *worker::create(team_, index);
    team_.homes[index] = &added;
    try {
        added.set_neighbours(neighbours_of(index, index + 1, neighbours::max_neighbours));
        if (!added.open_stacks())
            throw_shortage("no memory for the stacks of one more worker", ENOMEM);
        threads_.reserve(threads_.size() + 1);
        threads_.push_back(thread_of(index));
    } catch (...) {
        team_.homes[index] = nullptr;
        worker::destroy(&added);
        throw;
    }
    introduce(added);
}

// Workers that sleep have not asked the new one for work, so it begins as if they had (`late` in
// tests/model/sleep.pml). It begins after all others know it: that they have looked without it does no harm.
void engine::introduce(worker &added) noexcept {
    added.request_work();
    if (needs_hints(added.index + 1))
        team_.crowd.begin();
    else
        for (unsigned i = 0; i < added.index; ++i)
            team_.homes[i]->neighbours.append(added);
    team_.counting.lock(); // a count of sleepers and tasks includes it, or was before it had any
    team_.set_count(added.index + 1);
    team_.counting.unlock();
    publish_debug_table(team_);
}

void engine::end_threads() noexcept {
    {
        const team_guard no_more_workers; // it is closed
    }
    team_.stopping.store(true, std::memory_order_seq_cst); // pairs with park
    for (unsigned i = 0; i < team_.count(); ++i)
        if (team_.homes[i])
            team_.wake(i);
    for (kernel_thread &each : threads_)
        each.join();
    threads_.clear();
    {
        const team_guard no_inspection;
        the_team.store(nullptr, std::memory_order_seq_cst); // pairs with team_visit
        clear_debug_table();
    }
    await_visitors();
    team_.services.end();
    parker::close_bell();
    if (bound_)
        machine_.unbind();
}

void engine::destroy_homes() noexcept {
    for (worker *&each : team_.homes)
        if (worker *const w = std::exchange(each, nullptr))
            worker::destroy(w);
}

// True if every other worker sleeps, and none trims or polls meanwhile. Called under team_.counting, which
// keeps it so.
bool engine::can_count() const noexcept {
    return team_.sleepers.count() == team_.count() - 1 &&
           team_.trimming.load(std::memory_order_acquire) == 0 && !team_.services.polls_asleep();
}

// Number of living tasks, without the main task.
std::uint64_t engine::count_living() noexcept {
    std::uint64_t count = 0;
    team_.for_each_home([&count](worker &w) { count += w.slots.count_living(); });
    return count - 1;
}

std::uint64_t engine::count_ended() noexcept {
    std::uint64_t count = 0;
    team_.for_each_home([&count](worker &w) { count += w.slots.count_ended(); });
    return count;
}

// Ends the program if all remaining tasks have ended and none of them can be joined, because the only thread
// that could own their handles waits here.
void engine::refuse_handles() noexcept {
    team_.counting.lock();
    const bool counted = can_count();
    const std::uint64_t waiting = counted ? count_ended() : 0;
    const bool only_these = waiting != 0 && waiting == count_living();
    team_.counting.unlock();
    if (only_these && no_other_thread(team_))
        fatal("runtime",
              "its end waits for %llu task(s) that have ended and were neither joined nor detached: their "
              "handles outlive the runtime; join or destroy each handle before the runtime",
              static_cast<unsigned long long>(waiting));
}

void engine::report_waiting() noexcept {
    team_.counting.lock();
    const bool counted = can_count();
    const std::uint64_t joinable = counted ? count_ended() : 0,
                        blocked = counted ? count_living() - joinable : 0;
    team_.counting.unlock();
    if (joinable != 0)
        warn("the runtime is stopping and waits for %llu task(s) that have ended and were neither joined nor "
             "detached: another thread must do so, or their handles outlive the runtime",
             static_cast<unsigned long long>(joinable));
    if (blocked == 0)
        return;
    warn("the runtime is stopping and waits for %llu task(s) that are blocked and that no other task can "
         "wake; "
         "signal them, or end the runtime after them",
         static_cast<unsigned long long>(blocked));
    if (team_.opts.deadlock == deadlock_mode::off || team_.judges.load(std::memory_order_acquire) != 0 ||
        !only_tasks_can_wake(team_) || team_.deadlock_reported.exchange(true, std::memory_order_relaxed))
        return;
    write_report(STDERR_FILENO);
    if (team_.opts.deadlock == deadlock_mode::abort)
        abort_reported();
}

// Runs other tasks until none is left. The count is exact only if all other workers sleep and none wakes up
// meanwhile: then no task is spawned.
void engine::drain() noexcept {
    worker &first = *team_.homes[0];
    auto moved = std::chrono::steady_clock::now();
    for (unsigned idle = 0;;) {
        const bool own =
            team_.services.poll() || first.has_work() || first.sources.may_have_without_worker(first);
        // Tasks of another worker are left to it at first; but that worker may compute until one of them has
        // run.
        if (own || (idle != 0 && first.may_have_work_anywhere(true))) {
            this_task::yield();
            if (own)
                idle = 0;
            moved = std::chrono::steady_clock::now();
            continue;
        }
        team_.counting.lock();
        const bool over = can_count() && count_living() == 0;
        team_.counting.unlock();
        if (over && !first.has_work() && !(user_ && user_->is_in_use()))
            return;
        // Other workers run the remaining tasks, or a task waits for a signal of a foreign thread.
        std::this_thread::sleep_for(std::chrono::microseconds(idle < 20 ? 20 : 1000));
        if (++idle % 1000 == 20) // soon, then about once a second
            refuse_handles();
        if (team_.sleepers.count() < team_.count() - 1 || team_.services.may_wake_any() || pool_.busy())
            moved = std::chrono::steady_clock::now();
        else if (std::chrono::steady_clock::now() - moved > stall_report_after) {
            report_waiting();
            moved = std::chrono::steady_clock::now();
        }
    }
}

void engine::announce_end() noexcept {
    user_ = the_user.load(std::memory_order_acquire); // pairs with set_runtime_user
    if (!user_)
        return;
    if (const char *const why = user_->objection())
        fatal("runtime", "%s", why);
    user_->ends();
}

engine::~engine() {
    worker *w = this_worker();
    if (!w || w->current != main_)
        fatal("runtime", "not stopped by the main task; destroy the runtime in the function that started it");
    announce_end();
    team_.ending.store(true, std::memory_order_relaxed); // idle workers go to sleep sooner
    drain();
    if (main_->extras)
        end_locals(*main_->extras);
    team_.closed.store(true,
                       std::memory_order_release); // pairs with admit: before the last count of living tasks
    drain();      // runs what the destructors of its locals, and foreign threads, have spawned
    pool_.stop(); // a thread that has signaled the last task may still be about to wake a worker
    dump_on_signal_.reset();
    w->set_extras(main_, nullptr);
    end_threads();
    w->leave_thread();
    destroy_homes();
    if (user_)
        user_->ended();
}

namespace {
alignas(engine) std::byte engine_storage[sizeof(engine)];
engine &the_engine() noexcept { return *std::launder(reinterpret_cast<engine *>(engine_storage)); }
} // namespace

void start_engine(const options &opts) {
    if (in_forked_child())
        throw std::logic_error(
            "fult: this process was forked while a runtime was running; it cannot start one before exec");
    if (in_task())
        throw std::logic_error(
            "fult: a runtime is running already, and this is one of its tasks; end it first (one "
            "that OpenMP has started: by omp_pause_resource_all)");
    if (taken.exchange(true, std::memory_order_acq_rel))
        throw runtime_is_taken("fult: a runtime is running already; one process has one at a time. End it "
                               "first (one that OpenMP "
                               "has started: by omp_pause_resource_all)");
    try {
        watch_forks();
        ::new (engine_storage) engine(opts);
    } catch (...) {
        taken.store(false, std::memory_order_release);
        throw;
    }
}

void stop_engine() noexcept {
    if (in_forked_child()) // the runtime belongs to the parent: there is nothing to end
        return;
    the_engine().~engine();
    taken.store(false, std::memory_order_release);
}

unsigned add_workers(unsigned wanted) {
    const team_guard stays;
    return running_team() ? the_engine().add_workers(wanted) : 0;
}

void set_idle_spin(unsigned microseconds) noexcept {
    const team_guard stays;
    if (worker_team *const team = running_team())
        team->idle_spin.store(microseconds, std::memory_order_relaxed);
}

runtime_is_taken::~runtime_is_taken() = default;

void set_runtime_user(runtime_user &user) noexcept {
    the_user.store(&user, std::memory_order_release); // pairs with announce_end
}

const options &engine_options() noexcept { return the_engine().effective_options(); }
blocking_pool &engine_pool() noexcept { return the_engine().pool(); }

} // namespace detail

runtime::runtime(const options &opts) { detail::start_engine(opts); }
runtime::~runtime() { detail::stop_engine(); }
const options &runtime::effective_options() const noexcept { return detail::engine_options(); }

int worker_count() noexcept {
    const detail::worker *here = detail::this_worker();
    const detail::team_visit visit(here);
    const detail::worker_team *team = detail::visited_team(here, visit);
    return team ? static_cast<int>(team->count()) : 0;
}

} // namespace fult
