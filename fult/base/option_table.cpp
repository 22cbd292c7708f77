#include "option_table.hpp"

#include <csignal>
#include <cstdlib>

#include "check.hpp"
#include "worker_bits.hpp"

namespace fult {
namespace detail {
namespace {

constexpr choice<bind_mode> bind_modes[] = {
    {"auto", bind_mode::automatic}, {"on", bind_mode::on},  {"off", bind_mode::off},
    {"1", bind_mode::on},           {"yes", bind_mode::on}, {"true", bind_mode::on},
    {"0", bind_mode::off},          {"no", bind_mode::off}, {"false", bind_mode::off}};
constexpr choice<guard_mode> guards[] = {{"auto", guard_mode::automatic},
                                         {"madvise", guard_mode::madvise},
                                         {"mprotect", guard_mode::mprotect},
                                         {"off", guard_mode::none}};
constexpr choice<spawn_order> orders[] = {{"depth", spawn_order::depth_first},
                                          {"breadth", spawn_order::breadth_first}};
constexpr choice<fp_mode> fp_modes[] = {{"shared", fp_mode::shared}, {"own", fp_mode::own}};
constexpr choice<deadlock_mode> deadlocks[] = {
    {"report", deadlock_mode::report}, {"abort", deadlock_mode::abort}, {"off", deadlock_mode::off}};
constexpr choice<int> signals[] = {{"off", 0},          {"USR1", SIGUSR1},    {"USR2", SIGUSR2},
                                   {"QUIT", SIGQUIT},   {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2},
                                   {"SIGQUIT", SIGQUIT}};

// The named signals and the real-time signals.
struct signal_option : named_option<&options::dump_signal, signals> {
    static bool parse(options &into, std::string_view text) {
        std::size_t value = 0;
        if (named_option::parse(into, text))
            return true;
        if (!parse_number(text, value) || value > static_cast<std::size_t>(SIGRTMAX))
            return false;
        into.dump_signal = static_cast<int>(value);
        return true;
    }
    static bool valid(const options &o) {
        return named_option::valid(o) || (o.dump_signal >= SIGRTMIN && o.dump_signal <= SIGRTMAX);
    }
    static std::string values() { return named_option::values() + ", number"; }
    static std::string requirement() { return list(", ") + ", or the number of a real-time signal"; }
};

constexpr std::size_t min_stack_size = 16 * 1024;

constexpr option_row<options> rows[] = {
    option<number_option<&options::workers, numbers, 0, worker_bits::capacity>>(
        "FULT_WORKERS", "Kernel threads that run tasks; 0: one for each processor that the process may use."),
    option<named_option<&options::bind, bind_modes>>(
        "FULT_BIND",
        "Bind each worker to a core of its own. auto: only if there are as many workers as processors in the "
        "affinity mask, and no launcher has given the same ones to several ranks; fult-info says what was "
        "decided. on: also if there are fewer workers. Never done if there are more. A thread that a task "
        "starts inherits the core: set its affinity mask, or turn this option off."),
    option<number_option<&options::stack_size, bytes, min_stack_size, max_stack_size>>(
        "FULT_STACK_SIZE", "Bytes of a task's stack. A quarter of it is reserved for each task, however "
                           "deeply it is nested in inline joins. Resident only where touched. Rounded up to "
                           "an odd number of pages, so that stacks do not share a few TLB sets."),
    option<number_option<&options::stacks_kept, numbers, 0, unbounded>>(
        "FULT_STACKS_KEPT", "Idle stacks that keep their memory. Further ones, up to 32 times as many, keep "
                            "theirs until no task has used them for FULT_TRIM_AFTER."),
    option<named_option<&options::guard, guards>>(
        "FULT_GUARD",
        "How a stack overflow is caught: 64K below each stack fault, by madvise (Linux 6.13 or later, "
        "any number of stacks) or by mprotect (as many as vm.max_map_count allows)."),
    option<number_option<&options::max_tasks, large_numbers, 64, max_tasks_limit>>(
        "FULT_MAX_TASKS",
        "Living tasks per worker that it spawned itself, including the main task, and the same number again "
        "spawned on it by spawn_on or spawn_pinned; at the limit, spawn throws."),
    option<switch_option<&options::stealing>>("FULT_STEALING", "Idle workers steal tasks from others."),
    option<switch_option<&options::private_words>>(
        "FULT_PRIVATE_WORDS", "Spawned tasks are private to their worker until another worker requests work. "
                              "Off: the algorithm of the dissertation, an atomic OR per spawn."),
    option<named_option<&options::order, orders>>(
        "FULT_ORDER", "Whether a worker runs its newest task first or its oldest."),
    option<named_option<&options::fp_env, fp_modes>>(
        "FULT_FP_ENV", "Floating-point environment (rounding, masks, flags). own: each task starts with that "
                       "of the runtime's start, and its changes end with it; joins run no task inline then, "
                       "which costs a switch per task."),
    option<number_option<&options::idle_spin, microseconds, 0, 1'000'000>>(
        "FULT_IDLE_SPIN", "Microseconds for which a worker without tasks searches before it sleeps."),
    option<number_option<&options::blocking_threads, numbers, 1, 65536>>(
        "FULT_BLOCKING_THREADS", "Maximum number of concurrent calls of run_blocking(), each on a kernel "
                                 "thread; further calls queue."),
    option<number_option<&options::trim_after, milliseconds, 0, 3'600'000>>(
        "FULT_TRIM_AFTER",
        "Milliseconds after which idle memory is given back to the system: that of a worker that has slept "
        "for this time, and stacks that were not used for this time. 0: only by fult::trim."),
    option<named_option<&options::deadlock, deadlocks>>(
        "FULT_DEADLOCK",
        "The reaction, once, if every task waits and nothing can wake one: report all tasks, report and "
        "abort, or nothing. Programs with threads or signal handlers of their own are never considered "
        "deadlocked. The ranks of fult-comm query each other; a rank with off counts as busy."),
    option<signal_option>(
        "FULT_DUMP_SIGNAL",
        "A signal on which all tasks are reported on standard error, as by fult::dump_tasks."),
    option<switch_option<&options::spawn_sites>>(
        "FULT_SPAWN_SITES",
        "Record where each task was spawned, for fult::dump_tasks. Costs a microsecond per spawn."),
    option<switch_option<&options::report_detached>>("FULT_REPORT_DETACHED",
                                                     "Report each handle that is destroyed while its task is "
                                                     "neither joined nor detached: the task, and where."),
};

} // namespace

std::span<const option_row<options>> option_table() noexcept { return rows; }

int dump_signal_in_environment() noexcept {
    const char *given = std::getenv("FULT_DUMP_SIGNAL");
    options o;
    return given && signal_option::parse(o, given) && signal_option::valid(o) ? o.dump_signal : 0;
}

void validate(const options &o) { require_valid(option_table(), o, "fult"); }

void read_options(options &into) {
    read_environment(option_table(), into, "fult");
    for_each_unknown(option_table(), "FULT_", [](std::string_view name, const std::string &question) {
        // those of the libraries that are built on it
        if (!name.starts_with("FULT_COMM_") && !name.starts_with("FULT_RUN_") &&
            !name.starts_with("FULT_MPI_") && !name.starts_with("FULT_OMP_"))
            warn("the environment variable %.*s is unknown; %s`fult-info` lists those that are",
                 static_cast<int>(name.size()), name.data(), question.c_str());
    });
}

} // namespace detail

} // namespace fult
