// oneTBB in an arena of the wanted size, the main thread being one of its slots.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "common/kernel.hpp"

namespace bench {

inline const version tbb_version{"tbb", 0, [](unsigned workers, const std::function<void()> &body) {
                                     tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                                               workers);
                                     tbb::task_arena arena(static_cast<int>(workers));
                                     arena.execute(body);
                                 }};

} // namespace bench
