#include "option_table.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <type_traits>
#include <unistd.h>

#include "check.hpp"
#include "sleepers.hpp"

namespace fult {
namespace detail {
namespace {

// Parses textual values; a parse error returns false. The range is checked by `valid`, also for values set by
// a program.
using text = std::string_view;

bool number(text from, std::size_t &into) {
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), into);
    return error == std::errc{} && end == from.data() + from.size();
}

// 65536, 64K, 1M, 2G
bool bytes(text from, std::size_t &into) {
    const std::size_t unit = from.empty() ? text::npos : text("kKmMgG").find(from.back());
    const std::size_t shift = unit == text::npos ? 0 : (unit / 2 + 1) * 10;
    if (shift != 0)
        from.remove_suffix(1);
    if (!number(from, into) || into > (~std::size_t{0} >> shift))
        return false;
    into <<= shift;
    return true;
}

template <class E> struct choice {
    const char *name;
    E value;
};
constexpr choice<bool> switches[] = {{"on", true},   {"off", false}, {"1", true},   {"yes", true},
                                     {"true", true}, {"0", false},   {"no", false}, {"false", false}};
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

// A member of options with a few named values.
template <auto Member, const auto &Choices> struct named {
    static bool parse(options &into, text from) {
        for (const auto &each : Choices)
            if (from == each.name) {
                into.*Member = each.value;
                return true;
            }
        return false;
    }
    static bool valid(const options &o) {
        return std::any_of(std::begin(Choices), std::end(Choices),
                           [&](const auto &each) { return o.*Member == each.value; });
    }
    static std::string print(const options &o) {
        for (const auto &each : Choices)
            if (o.*Member == each.value)
                return each.name;
        return std::to_string(static_cast<int>(o.*Member));
    }
};

// A numeric member, parsed by `Read`.
template <auto Member, std::size_t Low, std::size_t High, auto Read = &number> struct counted {
    static bool parse(options &into, text from) {
        std::size_t value = 0;
        if (!Read(from, value))
            return false;
        into.*Member = static_cast<std::remove_reference_t<decltype(into.*Member)>>(value);
        return std::size_t{into.*Member} == value;
    }
    static bool valid(const options &o) { return o.*Member >= Low && o.*Member <= High; }
    static std::string print(const options &o) { return std::to_string(o.*Member); }
};

// The named signals and the real-time signals.
struct dump_signals : named<&options::dump_signal, signals> {
    static bool parse(options &into, text from) {
        std::size_t value = 0;
        if (named::parse(into, from))
            return true;
        if (!number(from, value) || value > static_cast<std::size_t>(SIGRTMAX))
            return false;
        into.dump_signal = static_cast<int>(value);
        return true;
    }
    static bool valid(const options &o) {
        return named::valid(o) || (o.dump_signal >= SIGRTMIN && o.dump_signal <= SIGRTMAX);
    }
};

template <class Kind>
constexpr option_row option(const char *variable, const char *type, const char *fallback, const char *help,
                            const char *must_be) {
    return {variable, type, fallback, help, must_be, &Kind::parse, &Kind::valid, &Kind::print};
}
template <auto Member>
constexpr option_row switch_row(const char *variable, const char *fallback, const char *help) {
    return option<named<Member, switches>>(variable, "on, off", fallback, help, "on or off");
}

constexpr std::size_t least_stack = 16 * 1024;
constexpr std::size_t unbounded = ~std::size_t{0} >> 1;

constexpr option_row rows[] = {
    option<counted<&options::workers, 0, sleepers::capacity>>(
        "FULT_WORKERS", "0 to 1024", "0",
        "Kernel threads that run tasks; 0: one for each processor that the process may use.",
        "a number from 0 to 1024"),
    switch_row<&options::bind>(
        "FULT_BIND", "on",
        "Bind each worker to a core of its own. Not done if there are more workers than processors. A thread "
        "that a task starts inherits the core: set its affinity mask, or turn this option off."),
    option<counted<&options::stack_size, least_stack, most_stack, &bytes>>(
        "FULT_STACK_SIZE", "16K to 1G", "256K",
        "Bytes of a task's stack. A quarter of it is reserved for each task, however deeply it is nested in "
        "inline joins. Resident only where touched. Rounded up to an odd number of pages, so that stacks do "
        "not share a few TLB sets.",
        "a size from 16K to 1G, such as 65536, 64K or 1M"),
    option<counted<&options::stacks_kept, 0, unbounded>>(
        "FULT_STACKS_KEPT", "number", "16384",
        "Idle stacks that keep their memory. Further ones, up to 32 times as many, keep theirs until no task "
        "has used them for FULT_TRIM_AFTER.",
        "a number"),
    option<named<&options::guard, guards>>(
        "FULT_GUARD", "auto, madvise, mprotect, off", "auto",
        "How a stack overflow is caught: a guard page by madvise (Linux 6.13 or later, "
        "any number of stacks) or by mprotect (as many as vm.max_map_count allows).",
        "auto, madvise, mprotect or off"),
    option<counted<&options::max_tasks, 64, most_tasks, &bytes>>(
        "FULT_MAX_TASKS", "64 to 8064K", "8064K",
        "Living tasks per worker that it spawned itself, including the main task, and the same number again "
        "spawned on it by spawn_on or spawn_pinned; at the limit, spawn throws.",
        "a number from 64 to 8064K"),
    switch_row<&options::stealing>("FULT_STEALING", "on", "Idle workers steal tasks from others."),
    switch_row<&options::private_words>(
        "FULT_PRIVATE_WORDS", "on",
        "Spawned tasks are private to their worker until another worker requests work. Off: the algorithm of "
        "the dissertation, an atomic OR per spawn."),
    option<named<&options::levels, levels>>(
        "FULT_LEVELS", "auto, 1, 2", "auto",
        "Levels of the public bit-vectors: words only, words with summaries, or (auto) summaries from "
        "the 513th slot on.",
        "auto, 1 or 2"),
    option<named<&options::order, orders>>("FULT_ORDER", "depth, breadth", "depth",
                                           "Whether a worker runs its newest task first or its oldest.",
                                           "depth or breadth"),
    option<named<&options::fp_env, fp_modes>>(
        "FULT_FP_ENV", "shared, own", "shared",
        "Floating-point environment (rounding, masks, flags). own: each task starts with that of the "
        "runtime's "
        "start, and its changes end with it; joins run no task inline then, which costs a switch per task.",
        "shared or own"),
    option<counted<&options::idle_spin, 0, 1'000'000>>(
        "FULT_IDLE_SPIN", "0 to 1000000", "100",
        "Microseconds for which a worker without tasks searches before it sleeps.",
        "microseconds from 0 to 1000000"),
    option<counted<&options::blocking_threads, 1, 65536>>(
        "FULT_BLOCKING_THREADS", "1 to 65536", "512",
        "Maximum number of concurrent calls of blocking(), each on a kernel thread; further calls queue.",
        "a number from 1 to 65536"),
    option<counted<&options::trim_after, 0, 3'600'000>>(
        "FULT_TRIM_AFTER", "0 to 3600000", "1000",
        "Milliseconds after which idle memory is given back to the system: that of a worker that has slept "
        "for "
        "this time, and stacks that were not used for this time. 0: only by fult::trim.",
        "milliseconds from 0 to 3600000"),
    option<named<&options::deadlock, deadlocks>>(
        "FULT_DEADLOCK", "report, abort, off", "report",
        "The reaction, once, if every task waits and nothing can wake one: report all tasks, report and "
        "abort, "
        "or nothing. Programs with threads or signal handlers of their own are never considered deadlocked. "
        "The ranks of fult-comm query each other; a rank with off counts as busy.",
        "report, abort or off"),
    option<dump_signals>(
        "FULT_DUMP_SIGNAL", "USR1, USR2, QUIT, number, off", "off",
        "A signal on which all tasks are reported on standard error, as by fult::dump_tasks.",
        "off, USR1, USR2, QUIT, or the number of a real-time signal"),
    switch_row<&options::spawn_sites>(
        "FULT_SPAWN_SITES", "off",
        "Record where each task was spawned, for fult::dump_tasks. Costs a microsecond per spawn."),
    switch_row<&options::report_detached>("FULT_REPORT_DETACHED", "off",
                                          "Report each handle that is destroyed while its task is neither "
                                          "joined nor detached: the task, and where."),
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
        // variables of fult-comm
        bool known = name.starts_with("FULT_COMM_") || name.starts_with("FULT_RUN_");
        for (const option_row &row : rows)
            known = known || name == row.variable;
        if (!known)
            warn("the environment variable %.*s is unknown; `fult-info` lists those that are",
                 static_cast<int>(name.size()), name.data());
    }
}

} // namespace

std::span<const option_row> option_table() noexcept { return rows; }

// An empty variable counts as unset.
const char *in_environment(const option_row &row) noexcept {
    const char *found = std::getenv(row.variable);
    return found && *found != '\0' ? found : nullptr;
}

int dump_signal_in_environment() noexcept {
    const char *given = std::getenv("FULT_DUMP_SIGNAL");
    options o;
    return given && dump_signals::parse(o, given) && dump_signals::valid(o) ? o.dump_signal : 0;
}

void validate(const options &o) {
    for (const option_row &row : rows)
        if (!row.valid(o))
            throw std::invalid_argument("fult: " + quoted(row.variable, row.print(o)) +
                                        " (or the option of that name): must be " + row.must_be);
}

} // namespace detail

options read_options() {
    options result;
    for (const detail::option_row &row : detail::rows)
        if (const char *given = detail::in_environment(row)) {
            options one; // so that each error reports the value as given
            if (!row.parse(one, given) || !row.valid(one))
                throw std::invalid_argument("fult: " + detail::quoted(row.variable, given) + ": must be " +
                                            row.must_be);
            row.parse(result, given);
        }
    detail::warn_of_unknown();
    return result;
}

} // namespace fult
