#include "binding.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "fult/base/numbers.hpp"

namespace fult::detail {
namespace {

std::string counted(unsigned number, const char *what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

// From "2", or from a list of hosts such as Slurm's "2(x3),1".
unsigned greatest_number(std::string_view text) noexcept {
    unsigned greatest = 0;
    while (!text.empty()) {
        greatest = std::max(greatest, leading_number<unsigned>(text).value_or(0));
        text.remove_prefix(std::min(text.find(','), text.size()));
        if (!text.empty())
            text.remove_prefix(1);
    }
    return greatest;
}

} // namespace

binding_decision decide_binding(const binding_facts &f) {
    if (f.asked == bind_mode::off)
        return {false, "FULT_BIND is off"};
    const std::string has = counted(f.workers, "worker") + " on " + counted(f.processors, "processor");
    if (f.workers > f.usable && f.usable < f.processors)
        return {false, counted(f.workers, "worker") + " with a quota of " + counted(f.usable, "processor")};
    if (f.workers > f.processors)
        return {false, has};
    if (f.asked == bind_mode::on)
        return {true, "FULT_BIND is on"};
    if (f.workers < f.processors)
        return {false, has + ": others may use the same; FULT_BIND=on binds"};
    if (f.whole_machine && f.ranks_here > 1)
        return {false, "a launcher has started " + std::to_string(f.ranks_here) +
                           " ranks here without sharing the processors out; FULT_BIND=on binds"};
    return {true, has};
}

unsigned ranks_on_this_host() noexcept {
    // fult-run, MPICH and what is made of it, Open MPI, Slurm. The innermost launcher counts.
    for (const char *variable :
         {"FULT_RUN_SIZE", "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"})
        if (const char *text = std::getenv(variable))
            return std::max(greatest_number(text), 1u);
    return 1;
}

} // namespace fult::detail
