// Runs random programs against the whole interface of the runtime, one after the other, each in a runtime of
// its own. tests/random/README.md describes how to repeat one.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include "configurations.hpp"
#include "late_locals.hpp"
#include "outsiders.hpp"
#include "program.hpp"
#include "scarcity.hpp"
#include "tests/support/scale.hpp"
#include "tools/command_line.hpp"

// The last owner frees an exception that two tasks share. The reference count that orders this is in
// libstdc++, which is not built with TSan: TSan sees the free, but not the count.
extern "C" const char *__tsan_default_suppressions(); // NOLINT(bugprone-reserved-identifier)
extern "C" __attribute__((visibility("default"))) const char *
__tsan_default_suppressions() { // NOLINT(bugprone-reserved-identifier)
    return "race:std::__exception_ptr::exception_ptr::_M_release\n";
}

namespace {

using namespace random_programs;
using clock = std::chrono::steady_clock;

[[noreturn]] void wrong(const std::string &what) {
    std::fprintf(stderr, "random-programs: %s; --help lists the options\n", what.c_str());
    std::exit(2);
}

struct command_line {
    std::uint64_t seed = 0;
    bool has_seed = false;
    std::uint64_t programs = 0; // 0: no limit
    std::uint64_t seconds = 0;  // 0: no limit
    std::string config = "drawn";
    unsigned steps = 0, stall = 120;
    std::vector<bool> without = std::vector<bool>(acts.size(), false);
    std::string left_out; // as given, for a repetition
    std::string reports = "/dev/null";
    bool quiet = false;
};

void mark(std::vector<bool> &which, const std::string &names, bool value) {
    std::istringstream all(names);
    for (std::string name; std::getline(all, name, ',');) {
        std::size_t at = 0;
        while (at < acts.size() && name != acts[at].name)
            ++at;
        if (at == acts.size())
            wrong("no act '" + name + "'; --list names them");
        which[at] = value;
    }
}

[[noreturn]] void list() {
    std::puts("acts:");
    for (const act_kind &kind : acts)
        std::printf("  %s\n", kind.name);
    std::puts("configurations:");
    for (const configuration_kind &kind : configuration_kinds())
        std::printf("  %-22s %s\n", kind.name, kind.meaning);
    std::exit(0);
}

// Leaves out the acts that are named, or all others.
void leave_out(command_line &line, const char *option, const std::string &names, bool others) {
    if (others)
        line.without.assign(acts.size(), true);
    mark(line.without, names, !others);
    line.left_out += std::string(" ") + option + " " + names;
}

void declare(fult::tools::command_line &options, command_line &line) {
    const auto number = [&options](const char *name, auto &into, const char *help) {
        using type = std::decay_t<decltype(into)>;
        return options.add_option(name, into, help)
            ->type_name("N")
            ->transform(fult::tools::whole_number<type>(0, std::numeric_limits<type>::max()));
    };
    number("--seed", line.seed,
           "the first program's seed; the next ones have N + 1, N + 2, ...; else from the clock")
        ->each([&line](const std::string &) { line.has_seed = true; });
    number("--programs", line.programs,
           "end after N programs (1 with --seed and without --seconds, else no limit)");
    number("--seconds", line.seconds, "begin no program after N seconds (10 without --programs)");
    options
        .add_option("--config", line.config,
                    "the runtimes' options: names with commas between them, or `drawn` from the seed")
        ->type_name("NAMES")
        ->capture_default_str();
    number("--steps", line.steps,
           "acts of the main task and its children, to make a failing program smaller");
    const auto names = [&](const char *name, bool others, const char *help) {
        const auto apply = [&line, name, others](const CLI::results_t &given) {
            for (const std::string &each : given)
                leave_out(line, name, each, others);
            return true;
        };
        return options.add_option(name, apply, help)
            ->type_name("NAMES")
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    };
    CLI::Option *const without = names("--without", false, "leave acts out; the others stay as they were");
    names("--only", true, "leave all others out")->excludes(without);
    number("--stall", line.stall, "fail where no act and no task ends for N seconds; 0: wait for good")
        ->capture_default_str();
    options
        .add_option("--reports", line.reports,
                    "standard error while a program raises FULT_DUMP_SIGNAL or reports detached tasks")
        ->type_name("FILE")
        ->capture_default_str();
    options.add_switch("--quiet", line.quiet, "print no line for each program");
    options.add_flag_callback("--list", &list, "print the names of acts and configurations, and end");
    options.footer(
        "A seed repeats what is done, not in which order the workers do it: repeat a rare failure with\n"
        "--programs 1 in a loop, first alone, then beside something that keeps the processors busy.");
}

command_line parse(int count, char **arguments) {
    command_line line;
    fult::tools::command_line options(
        "Runs random programs against the runtime: tasks and threads that spawn, join, wait, signal, lock, "
        "send, "
        "stop, look inside and give memory back, each with an oracle. Ends with status 1, the seed and a "
        "report "
        "of all tasks where the oracle finds something wrong, or where nothing moves for a while.",
        "random-programs");
    declare(options, line);
    if (const auto status = options.read(count, arguments))
        std::exit(*status);
    if (!line.has_seed)
        line.seed = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) %
                    1000000000u;
    if (line.programs == 0 && line.seconds == 0)
        line.has_seed ? void(line.programs = 1) : void(line.seconds = 10);
    return line;
}

// Standard error goes elsewhere while it lives.
class reports_elsewhere {
  public:
    reports_elsewhere(bool wanted, const std::string &file) : before_(wanted ? ::dup(STDERR_FILENO) : -1) {
        if (before_ < 0)
            return;
        const int there = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (there < 0)
            wrong("cannot write to " + file);
        ::dup2(there, STDERR_FILENO);
        ::close(there);
    }
    ~reports_elsewhere() {
        if (before_ < 0)
            return;
        ::dup2(before_, STDERR_FILENO);
        ::close(before_);
    }
    reports_elsewhere(const reports_elsewhere &) = delete;
    reports_elsewhere &operator=(const reports_elsewhere &) = delete;

  private:
    int before_;
};

// A runtime, even if its start is refused some times: then it must leave nothing behind.
std::unique_ptr<const fult::runtime> start(const configuration &config, std::uint64_t seed) {
    for (unsigned tries = 0; tries < 5; ++tries)
        try {
            refuse_now_and_then(seed + tries, config.refuse_maps, config.refuse_threads,
                                config.refuse_guards);
            return std::make_unique<const fult::runtime>(config.options);
        } catch (const std::system_error &error) {
            check(refusals() != 0, "a runtime does not start: %s", error.what());
        }
    refuse_now_and_then(0, 0, 0, 0);
    auto running = std::make_unique<const fult::runtime>(config.options);
    refuse_now_and_then(seed, config.refuse_maps, config.refuse_threads, config.refuse_guards);
    return running;
}

bool is_left_out(const command_line &line, const char *name) {
    for (std::size_t i = 0; i < acts.size(); ++i)
        if (std::strcmp(acts[i].name, name) == 0)
            return line.without[i];
    wrong(std::string("no act '") + name + "'");
}

// Its runtime lives in here; the outsiders longer than it.
void run_in_a_runtime(program &all, const configuration &config, bool with_outsiders) {
    draw random(all.how.seed ^ 0x007);
    const bool at_the_begin = with_outsiders && random.one_in(4),
               at_the_end = with_outsiders && random.one_in(3);
    const std::uint64_t seeds[] = {random.next(), random.next()};
    std::optional<outsiders> early, late;
    if (at_the_begin)
        early.emplace(all, seeds[0]).go();
    const auto running = start(config, all.how.seed);
    run(all);
    if (at_the_end)
        late.emplace(all, seeds[1]).go();
}

std::uint32_t run_one(const command_line &line, std::uint64_t seed) {
    const configuration config = configured(line.config, draw(seed ^ 0x5eed));
    recipe how;
    how.seed = seed;
    how.steps = line.steps;
    how.without = line.without;
    how.most_tasks_at_a_time = config.most_tasks_at_a_time;
    how.steals = config.options.stealing;
    how.extreme_times = !is_left_out(line, "extreme-times");
    how.dump_signal = config.options.dump_signal != 0;
    announce("--seed " + std::to_string(seed) + " --programs 1 --config " + line.config +
             (line.steps ? " --steps " + std::to_string(line.steps) : "") + line.left_out + "   # " +
             config.text);
    if (!line.quiet)
        std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), config.text.c_str());
    std::fflush(stdout);
    program all(how);
    {
        const reports_elsewhere moved_away(how.dump_signal || config.options.report_detached, line.reports);
        run_in_a_runtime(all, config, !is_left_out(line, "outsiders"));
    }
    refuse_now_and_then(0, 0, 0, 0);
    all.tasks.close();
    moved();
    return all.tasks.issued();
}

} // namespace

int main(int count, char **arguments) {
    const command_line line = parse(count, arguments);
    try {
        (void)configured(line.config, draw(0));
    } catch (const std::invalid_argument &error) {
        wrong(error.what());
    }
    std::printf("random-programs --seed %llu --config %s%s\n", static_cast<unsigned long long>(line.seed),
                line.config.c_str(), line.left_out.c_str());
    const auto start = clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
    if (!is_left_out(line, "late-locals"))
        use_locals_at_the_end(line.seed);
    std::optional<watchdog> watching;
    if (line.stall != 0)
        watching.emplace(line.stall);
    std::uint64_t done = 0, tasks = 0;
    while ((line.programs == 0 || done < line.programs) &&
           (line.seconds == 0 || passed() < double(line.seconds)))
        tasks += run_one(line, line.seed + done++);
    std::printf("%llu programs, %llu tasks, %.1f s: nothing found\n", static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(tasks), passed());
    return 0;
}
