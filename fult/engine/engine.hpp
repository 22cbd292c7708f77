// Start and stop of the one runtime of the process, used by the C++ and the C interface.
#pragma once

#include <fult/options.hpp>

namespace fult::detail {

void start_engine(const options &opts); // throws as fult::runtime does
void stop_engine() noexcept;
const options &engine_options() noexcept;
class blocking_pool;
blocking_pool &engine_pool() noexcept; // of the running runtime

} // namespace fult::detail
