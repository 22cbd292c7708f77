// FULT with its defaults: the main thread becomes the main task.
#pragma once

#include <fult/fult.hpp>

#include "common/kernel.hpp"

namespace bench {

inline fult::options fult_options(unsigned workers) {
    fult::options options = fult::read_options();
    options.workers = workers;
    return options;
}

inline const version fult_version{"fult", 0, [](unsigned workers, const std::function<void()> &body) {
                                      fult::runtime runtime(fult_options(workers));
                                      body();
                                  }};

} // namespace bench
