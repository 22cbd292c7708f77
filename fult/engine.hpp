// Starting and stopping the one runtime of the process; the C++ and the C interface stand on these.
#pragma once

#include <fult/options.hpp>

namespace fult::detail {

void start_engine(const options &opts); // throws as fult::runtime does
void stop_engine() noexcept;
const options &engine_options() noexcept;
class blocking_pool;
blocking_pool &engine_pool() noexcept; // of the running one

} // namespace fult::detail
