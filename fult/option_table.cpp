#include "option_table.hpp"

#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#include "check.hpp"
#include "sleepers.hpp"

namespace fult {
namespace detail {
namespace {

[[noreturn]] void expect(const char *what) { throw std::invalid_argument(what); }

std::size_t number(std::string_view text, std::size_t low, std::size_t high, const char *what) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
        expect(what);
    return value;
}

// 65536, 64K, 1M, 2G
std::size_t bytes(std::string_view text, const char *what) {
    unsigned shift = 0;
    if (!text.empty())
        switch (text.back()) {
        case 'k':
        case 'K':
            shift = 10;
            break;
        case 'm':
        case 'M':
            shift = 20;
            break;
        case 'g':
        case 'G':
            shift = 30;
            break;
        default:
            break;
        }
    if (shift != 0)
        text.remove_suffix(1);
    return number(text, 1, (std::size_t{1} << 30) >> shift, what) << shift;
}

bool on_off(std::string_view text) {
    if (text == "on" || text == "1" || text == "yes" || text == "true")
        return true;
    if (text == "off" || text == "0" || text == "no" || text == "false")
        return false;
    expect("on or off");
}

template <class E> struct choice {
    const char *name;
    E value;
};

template <class E, std::size_t N>
E chosen(std::string_view text, const choice<E> (&choices)[N], const char *what) {
    for (const auto &each : choices)
        if (text == each.name)
            return each.value;
    expect(what);
}
template <class E, std::size_t N> std::string name_of(E value, const choice<E> (&choices)[N]) {
    for (const auto &each : choices)
        if (value == each.value)
            return each.name;
    return "?";
}

constexpr choice<guard_mode> guards[] = {{"auto", guard_mode::automatic},
                                         {"madvise", guard_mode::madvise},
                                         {"mprotect", guard_mode::mprotect},
                                         {"off", guard_mode::none}};
constexpr choice<level_mode> levels[] = {
    {"auto", level_mode::automatic}, {"1", level_mode::one}, {"2", level_mode::two}};
constexpr choice<spawn_order> orders[] = {{"depth", spawn_order::depth_first},
                                          {"breadth", spawn_order::breadth_first}};
constexpr choice<fp_mode> fp_modes[] = {{"shared", fp_mode::shared}, {"own", fp_mode::own}};
constexpr choice<deadlock_mode> deadlocks[] = {
    {"report", deadlock_mode::report}, {"abort", deadlock_mode::abort}, {"off", deadlock_mode::off}};
constexpr choice<int> signals[] = {{"off", 0}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"QUIT", SIGQUIT}};

// Those by name, and the real-time signals.
int signal_number(std::string_view text) {
    for (const auto &each : signals)
        if (text == each.name)
            return each.value;
    constexpr const char *what = "off, USR1, USR2, QUIT, or the number of a real-time signal";
    return static_cast<int>(
        number(text, static_cast<std::size_t>(SIGRTMIN), static_cast<std::size_t>(SIGRTMAX), what));
}
std::string print_signal(int value) {
    for (const auto &each : signals)
        if (value == each.value)
            return each.name;
    return std::to_string(value);
}

std::string print_bool(bool value) { return value ? "on" : "off"; }

constexpr std::size_t least_stack = 16 * 1024;
constexpr std::size_t most_tasks = 8 * 1024 * 1024;
constexpr std::size_t unbounded = ~std::size_t{0} >> 1;

constexpr option_row rows[] = {
    {"FULT_WORKERS", "0 to 1024", "0",
     "Kernel threads that run tasks; 0: one for each processor that the process may use.",
     [](options &o, std::string_view t) {
         o.workers = static_cast<unsigned>(number(t, 0, sleepers::capacity, "a number from 0 to 1024"));
     },
     [](const options &o) { return std::to_string(o.workers); }},
    {"FULT_BIND", "on, off", "on",
     "Bind each worker to a core of its own. Not done where there are more workers than processors. A thread "
     "that a task starts inherits the core: give it a mask of its own, or turn this off.",
     [](options &o, std::string_view t) { o.bind = on_off(t); },
     [](const options &o) { return print_bool(o.bind); }},
    {"FULT_STACK_SIZE", "16K to 1G", "256K",
     "Bytes of a task's stack, of which a quarter is there for each task, however deep it runs "
     "inside other tasks' joins. Resident only where it is touched. Rounded up to an odd number of pages, so "
     "that the stacks do not share a few sets of the TLB.",
     [](options &o, std::string_view t) {
         o.stack_size = bytes(t, "a size from 16K to 1G, such as 65536, 64K or 1M");
     },
     [](const options &o) { return std::to_string(o.stack_size); }},
    {"FULT_STACKS_KEPT", "number", "16384",
     "Idle stacks that keep their memory; that of more goes back to the system.",
     [](options &o, std::string_view t) { o.stacks_kept = number(t, 0, unbounded, "a number"); },
     [](const options &o) { return std::to_string(o.stacks_kept); }},
    {"FULT_GUARD", "auto, madvise, mprotect, off", "auto",
     "How a stack overflow is caught: a guard page by madvise (Linux 6.13 or later, "
     "any number of stacks) or by mprotect (as many as vm.max_map_count allows).",
     [](options &o, std::string_view t) { o.guard = chosen(t, guards, "auto, madvise, mprotect or off"); },
     [](const options &o) { return name_of(o.guard, guards); }},
    {"FULT_MAX_TASKS", "64 to 8M", "8M", "Living tasks that a worker may hold; at the bound, spawn throws.",
     [](options &o, std::string_view t) { o.max_tasks = bytes(t, "a number from 64 to 8M"); },
     [](const options &o) { return std::to_string(o.max_tasks); }},
    {"FULT_STEALING", "on, off", "on", "Idle workers take tasks from others.",
     [](options &o, std::string_view t) { o.stealing = on_off(t); },
     [](const options &o) { return print_bool(o.stealing); }},
    {"FULT_PRIVATE_WORDS", "on, off", "on",
     "Spawned tasks are known to their worker alone until somebody wants them. Off: the plain "
     "algorithm of the dissertation, an atomic OR for each spawn.",
     [](options &o, std::string_view t) { o.private_words = on_off(t); },
     [](const options &o) { return print_bool(o.private_words); }},
    {"FULT_LEVELS", "auto, 1, 2", "auto",
     "Levels of the public bit-vectors: words alone, words below summaries, or (auto) summaries from "
     "the 513th slot on.",
     [](options &o, std::string_view t) { o.levels = chosen(t, levels, "auto, 1 or 2"); },
     [](const options &o) { return name_of(o.levels, levels); }},
    {"FULT_ORDER", "depth, breadth", "depth", "Whether a worker runs its newest task first or its oldest.",
     [](options &o, std::string_view t) { o.order = chosen(t, orders, "depth or breadth"); },
     [](const options &o) { return name_of(o.order, orders); }},
    {"FULT_FP_ENV", "shared, own", "shared",
     "Floating-point environment (rounding, masks, flags). own: each task starts with that of the runtime's "
     "start, and its changes end with it; joins run no task in place then, which costs a switch a task.",
     [](options &o, std::string_view t) { o.fp_env = chosen(t, fp_modes, "shared or own"); },
     [](const options &o) { return name_of(o.fp_env, fp_modes); }},
    {"FULT_IDLE_SPIN", "0 to 1000000", "100",
     "Microseconds for which a worker without work looks for some before it sleeps.",
     [](options &o, std::string_view t) {
         o.idle_spin = static_cast<unsigned>(number(t, 0, 1'000'000, "microseconds from 0 to 1000000"));
     },
     [](const options &o) { return std::to_string(o.idle_spin); }},
    {"FULT_BLOCKING_THREADS", "1 to 65536", "512",
     "Calls of blocking() that may be under way at a time, each on a kernel thread; more wait their turn.",
     [](options &o, std::string_view t) {
         o.blocking_threads = static_cast<unsigned>(number(t, 1, 65536, "a number from 1 to 65536"));
     },
     [](const options &o) { return std::to_string(o.blocking_threads); }},
    {"FULT_TRIM_AFTER", "0 to 3600000", "1000",
     "Milliseconds after which memory that a burst of tasks has left behind goes back to the system: that of "
     "a "
     "worker that has slept for so long, and idle stacks that nobody took for so long. 0: only fult::trim "
     "does it.",
     [](options &o, std::string_view t) {
         o.trim_after = static_cast<unsigned>(number(t, 0, 3'600'000, "milliseconds from 0 to 3600000"));
     },
     [](const options &o) { return std::to_string(o.trim_after); }},
    {"FULT_DEADLOCK", "report, abort, off", "report",
     "What is done, once, when every task waits and nothing can wake one: a report of all tasks, the same "
     "and the "
     "program's end, or nothing. Programs with threads or signal handlers of their own, or with fult-comm, "
     "are "
     "never taken for deadlocked.",
     [](options &o, std::string_view t) { o.deadlock = chosen(t, deadlocks, "report, abort or off"); },
     [](const options &o) { return name_of(o.deadlock, deadlocks); }},
    {"FULT_DUMP_SIGNAL", "USR1, USR2, QUIT, number, off", "off",
     "A signal that has all tasks reported on standard error, as fult::dump_tasks does.",
     [](options &o, std::string_view t) { o.dump_signal = signal_number(t); },
     [](const options &o) { return print_signal(o.dump_signal); }},
    {"FULT_SPAWN_SITES", "on, off", "off",
     "Remember where each task was spawned, for fult::dump_tasks. Each spawn costs a microsecond then.",
     [](options &o, std::string_view t) { o.spawn_sites = on_off(t); },
     [](const options &o) { return print_bool(o.spawn_sites); }},
};

std::string quoted(const char *variable, std::string_view value) {
    return std::string(variable) + "='" + std::string(value) + "'";
}

void warn_of_unknown() {
    for (char **each = environ; each && *each; ++each) {
        const std::string_view entry(*each);
        if (!entry.starts_with("FULT_"))
            continue;
        const std::string_view name = entry.substr(0, entry.find('='));
        bool known = name.starts_with("FULT_COMM_") || name.starts_with("FULT_RUN_"); // fult-comm's
        for (const option_row &row : rows)
            known = known || name == row.variable;
        if (!known)
            warn("the environment variable %.*s is unknown; `fult-info` lists those that are",
                 static_cast<int>(name.size()), name.data());
    }
}

} // namespace

std::span<const option_row> option_table() noexcept { return rows; }

bool set_in_environment(const option_row &row) noexcept { return std::getenv(row.variable) != nullptr; }

void validate(const options &o) {
    const auto bad = [](const char *variable, const std::string &value, const char *what) {
        throw std::invalid_argument("fult: " + quoted(variable, value) +
                                    " (or the option of that name): must be " + what);
    };
    if (o.workers > sleepers::capacity)
        bad("FULT_WORKERS", std::to_string(o.workers), "at most 1024");
    if (o.blocking_threads < 1 || o.blocking_threads > 65536)
        bad("FULT_BLOCKING_THREADS", std::to_string(o.blocking_threads), "from 1 to 65536");
    if (o.stack_size < least_stack || o.stack_size > most_stack)
        bad("FULT_STACK_SIZE", std::to_string(o.stack_size), "from 16K to 1G");
    if (o.max_tasks < 64 || o.max_tasks > most_tasks)
        bad("FULT_MAX_TASKS", std::to_string(o.max_tasks), "from 64 to 8M");
}

} // namespace detail

options read_options() {
    options result;
    for (const detail::option_row &row : detail::rows)
        if (const char *text = std::getenv(row.variable)) {
            try {
                row.parse(result, text);
            } catch (const std::invalid_argument &expected) {
                throw std::invalid_argument("fult: " + detail::quoted(row.variable, text) + ": must be " +
                                            expected.what());
            }
        }
    detail::warn_of_unknown();
    detail::validate(result);
    return result;
}

} // namespace fult
