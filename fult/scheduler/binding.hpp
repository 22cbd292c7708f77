// Whether workers are bound to processors. A worker that is bound keeps its caches, but runs nowhere else,
// however busy its processor is. So by default workers are bound only where the process has its processors to
// itself as far as it can know: two programs of one worker each that both bound it to the first processor
// would leave all others idle.
#pragma once

#include <string>

#include <fult/options.hpp>

namespace fult::detail {

// What the decision depends on.
struct binding_facts {
    bind_mode asked;
    unsigned workers;
    unsigned processors; // in the affinity mask
    unsigned usable;     // the same, or fewer where a quota limits the processor time
    bool whole_machine;  // the mask has all processors: no launcher has shared them out
    unsigned ranks_here; // processes that a launcher has started on this host with this one; 1 if unknown
};

struct binding_decision {
    bool bind;
    std::string reason; // as fult-info prints it
};

binding_decision decide_binding(const binding_facts &facts);

// The ranks of this process's job on this host, from the environment: the most on any host, where a launcher
// gives a list. 1 without a launcher.
FULT_API unsigned ranks_on_this_host() noexcept;

} // namespace fult::detail
