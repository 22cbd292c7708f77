#include "configurations.hpp"

#include <csignal>
#include <sstream>
#include <stdexcept>

#include "tests/support/scale.hpp"

namespace random_programs {

const std::vector<configuration_kind> &configuration_kinds() {
    using conf = configuration;
    static const std::vector<configuration_kind> kinds = {
        {"workers-1", "one worker", [](conf &c) { c.options.workers = 1; }},
        {"workers-2", "two", [](conf &c) { c.options.workers = 2; }},
        {"workers-3", "three", [](conf &c) { c.options.workers = 3; }},
        {"workers-7", "seven", [](conf &c) { c.options.workers = 7; }},
        {"workers-16", "sixteen", [](conf &c) { c.options.workers = 16; }},
        {"workers-64", "sixty-four", [](conf &c) { c.options.workers = 64; }},
        {"shared-words", "FULT_PRIVATE_WORDS=off", [](conf &c) { c.options.private_words = false; }},
        {"one-level", "FULT_LEVELS=1", [](conf &c) { c.options.levels = fult::level_mode::one; }},
        {"two-levels", "FULT_LEVELS=2", [](conf &c) { c.options.levels = fult::level_mode::two; }},
        {"breadth-first", "FULT_ORDER=breadth",
         [](conf &c) { c.options.order = fult::spawn_order::breadth_first; }},
        {"no-stealing", "FULT_STEALING=off", [](conf &c) { c.options.stealing = false; }},
        {"bound", "FULT_BIND=on", [](conf &c) { c.options.bind = true; }},
        {"guard-mprotect", "FULT_GUARD=mprotect",
         [](conf &c) { c.options.guard = fult::guard_mode::mprotect; }},
        {"guard-none", "FULT_GUARD=off", [](conf &c) { c.options.guard = fult::guard_mode::none; }},
        {"spawn-sites", "FULT_SPAWN_SITES=on", [](conf &c) { c.options.spawn_sites = true; }},
        {"trim-often", "FULT_TRIM_AFTER=1", [](conf &c) { c.options.trim_after = 1; }},
        {"no-spin", "FULT_IDLE_SPIN=0", [](conf &c) { c.options.idle_spin = 0; }},
        {"own-fp", "FULT_FP_ENV=own", [](conf &c) { c.options.fp_env = fult::fp_mode::own; }},
        {"few-stacks", "FULT_STACKS_KEPT=0", [](conf &c) { c.options.stacks_kept = 0; }},
        {"few-slots", "FULT_MAX_TASKS=64: spawns fail",
         [](conf &c) {
             c.options.max_tasks = 64;
             c.most_tasks_at_a_time = 300; // more than there are, but not much
         }},
        {"few-blocking-threads", "FULT_BLOCKING_THREADS=2", [](conf &c) { c.options.blocking_threads = 2; }},
        {"dump-signal", "FULT_DUMP_SIGNAL=USR1, which programs raise",
         [](conf &c) { c.options.dump_signal = SIGUSR1; }},
        {"scarce-memory", "mmap fails now and then", [](conf &c) { c.refuse_maps = 4; }},
        {"scarce-threads", "pthread_create fails now and then", [](conf &c) { c.refuse_threads = 4; }},
    };
    return kinds;
}

namespace {

void choose(configuration &to, const std::string &name) {
    for (const configuration_kind &kind : configuration_kinds())
        if (name == kind.name) {
            kind.apply(to);
            to.text += (to.text.empty() ? "" : ",") + name;
            return;
        }
    throw std::invalid_argument("no configuration '" + name + "'; --list names them");
}

} // namespace

configuration configured(const std::string &names, draw random) {
    configuration result;
    fult::options &o = result.options;
    o.bind = false; // programs run beside others
    o.workers = random.one_of({1u, 1u, 2u, 2u, 2u, 3u, 3u, 7u, 16u, 64u});
    if (fult::testing::sanitized && o.workers > 16)
        o.workers = 16;
    if (fult::testing::sanitized)
        o.max_tasks = 1024 * 1024; // shadow memory
    if (names != "drawn") {
        std::istringstream all(names);
        for (std::string name; std::getline(all, name, ',');)
            choose(result, name);
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
                kinds[first_option + random.below(static_cast<unsigned>(kinds.size()) - first_option)].name);
    return result;
}

} // namespace random_programs
