#include "configurations.hpp"

#include <csignal>
#include <sstream>
#include <stdexcept>

#include "spawning.hpp"
#include "tests/support/scale.hpp"

namespace random_programs {

const std::vector<configuration_kind> &configuration_kinds() {
    using conf = configuration;
    static const std::vector<configuration_kind> kinds = {
        {"workers-1", "one worker", [](conf &c, draw &) { c.options.workers = 1; }},
        {"workers-2", "two", [](conf &c, draw &) { c.options.workers = 2; }},
        {"workers-3", "three", [](conf &c, draw &) { c.options.workers = 3; }},
        {"workers-7", "seven", [](conf &c, draw &) { c.options.workers = 7; }},
        {"workers-16", "sixteen", [](conf &c, draw &) { c.options.workers = 16; }},
        {"workers-64", "sixty-four", [](conf &c, draw &) { c.options.workers = 64; }},
        {"shared-words", "FULT_PRIVATE_WORDS=off", [](conf &c, draw &) { c.options.private_words = false; }},
        {"breadth-first", "FULT_ORDER=breadth",
         [](conf &c, draw &) { c.options.order = fult::spawn_order::breadth_first; }},
        {"no-stealing", "FULT_STEALING=off", [](conf &c, draw &) { c.options.stealing = false; }},
        {"bound", "FULT_BIND=on", [](conf &c, draw &) { c.options.bind = fult::bind_mode::on; }},
        {"guard-mprotect", "FULT_GUARD=mprotect",
         [](conf &c, draw &) { c.options.guard = fult::guard_mode::mprotect; }},
        {"guard-none", "FULT_GUARD=off", [](conf &c, draw &) { c.options.guard = fult::guard_mode::none; }},
        {"spawn-sites", "FULT_SPAWN_SITES=on", [](conf &c, draw &) { c.options.spawn_sites = true; }},
        {"trim-often", "FULT_TRIM_AFTER=1", [](conf &c, draw &) { c.options.trim_after = 1; }},
        {"no-spin", "FULT_IDLE_SPIN=0", [](conf &c, draw &) { c.options.idle_spin = 0; }},
        {"own-fp", "FULT_FP_ENV=own", [](conf &c, draw &) { c.options.fp_env = fult::fp_mode::own; }},
        {"few-stacks", "FULT_STACKS_KEPT=0", [](conf &c, draw &) { c.options.stacks_kept = 0; }},
        {"few-slots", "FULT_MAX_TASKS=64: spawns fail",
         [](conf &c, draw &) {
             c.options.max_tasks = 64;
             c.most_tasks_at_a_time = 300; // more than there are, but not much
         }},
        {"few-blocking-threads", "FULT_BLOCKING_THREADS=2",
         [](conf &c, draw &) { c.options.blocking_threads = 2; }},
        {"dump-signal", "FULT_DUMP_SIGNAL=USR1, which programs raise",
         [](conf &c, draw &) { c.options.dump_signal = SIGUSR1; }},
        {"scarce-memory", "mmap fails now and then", [](conf &c, draw &) { c.refuse_maps = 4; }},
        {"scarce-threads", "pthread_create fails now and then",
         [](conf &c, draw &) { c.refuse_threads = 4; }},
        {"scarce-guards", "FULT_GUARD drawn; guard pages are refused now and then",
         [](conf &c, draw &random) {
             using fult::guard_mode;
             c.options.guard =
                 random.one_of({guard_mode::automatic, guard_mode::madvise, guard_mode::mprotect});
             c.refuse_guards = 3;
         }},
        {"stack-size", "FULT_STACK_SIZE drawn, to the byte",
         [](conf &c, draw &random) {
             c.options.stack_size = drawn_options::smallest_stack + random.below(1024 * 1024);
         }},
        {"deadlock-abort", "FULT_DEADLOCK=abort: none may be found",
         [](conf &c, draw &) { c.options.deadlock = fult::deadlock_mode::abort; }},
        {"deadlock-off", "FULT_DEADLOCK=off",
         [](conf &c, draw &) { c.options.deadlock = fult::deadlock_mode::off; }},
        {"report-detached", "FULT_REPORT_DETACHED=on",
         [](conf &c, draw &) { c.options.report_detached = true; }},
    };
    return kinds;
}

namespace {

void choose(configuration &to, const std::string &name, draw &random) {
    for (const configuration_kind &kind : configuration_kinds())
        if (name == kind.name) {
            kind.apply(to, random);
            to.text += (to.text.empty() ? "" : ",") + name;
            return;
        }
    throw std::invalid_argument("no configuration '" + name + "'; --list names them");
}

} // namespace

configuration configured(const std::string &names, draw random) {
    configuration result;
    fult::options &o = result.options;
    o.bind = fult::bind_mode::off; // programs run beside others
    o.workers = random.one_of({1u, 1u, 2u, 2u, 2u, 3u, 3u, 7u, 16u, 64u});
    if (fult::testing::sanitized && o.workers > 16)
        o.workers = 16;
    if (fult::testing::sanitized)
        o.max_tasks = 1024 * 1024; // shadow memory
    if (names != "drawn") {
        std::istringstream all(names);
        for (std::string name; std::getline(all, name, ',');)
            choose(result, name, random);
        result.text += " (" + std::to_string(o.workers) + " workers)";
        return result;
    }
    result.text = "workers=" + std::to_string(o.workers);
    // About half of the programs run with the defaults otherwise; the others differ in one to three ways.
    const auto &kinds = configuration_kinds();
    constexpr unsigned first_option = 6; // after the numbers of workers
    if (random.one_in(2))
        for (unsigned i = random.between(1, 3); i > 0; --i)
            choose(
                result,
                kinds[first_option + random.below(static_cast<unsigned>(kinds.size()) - first_option)].name,
                random);
    return result;
}

} // namespace random_programs
