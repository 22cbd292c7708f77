// The table of options: fult-info and docs/environment.md show it.
#pragma once

#include <span>

#include <fult/options.hpp>

#include "option_row.hpp"

namespace fult::detail {

inline constexpr std::size_t max_stack_size = std::size_t{1} << 30;
inline constexpr std::size_t max_tasks_limit = 8064 * 1024; // the number of usable slots in half of a home

std::span<const option_row<options>> option_table() noexcept;

// The signal named by FULT_DUMP_SIGNAL; 0 if there is none or it is invalid. Does not allocate.
int dump_signal_in_environment() noexcept;

// Throws std::invalid_argument for invalid values.
void validate(const options &opts);

} // namespace fult::detail
