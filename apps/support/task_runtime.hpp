// The runtime of a program by tasks.
#pragma once

#include <fult/runtime.hpp>

namespace apps {

// With the workers that the command line names; 0: as many as the environment or the processors say.
inline fult::runtime start_runtime(unsigned workers) {
    fult::options options = fult::read_options();
    if (workers)
        options.workers = workers;
    return fult::runtime(options);
}

} // namespace apps
