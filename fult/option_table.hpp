// The one table of options: the parser, fult-info and docs/environment.md use it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <fult/options.hpp>

namespace fult::detail {

inline constexpr std::size_t most_stack = std::size_t{1} << 30;
inline constexpr std::size_t most_tasks = 8064 * 1024; // the number of usable slots in half of a home

struct option_row {
    const char *variable; // FULT_...
    const char *type;     // as documented
    const char *fallback; // the default, as documented
    const char *help;
    const char *must_be; // the end of "... must be "
    // Parses the value; returns false if it is not of that type. `valid` checks the range, for every source
    // of values.
    bool (*parse)(options &into, std::string_view text);
    bool (*valid)(const options &checked);
    std::string (*print)(const options &from);
};

std::span<const option_row> option_table() noexcept;

// Its value in the environment; nullptr if the variable is unset or empty.
const char *in_environment(const option_row &row) noexcept;

// The signal named by FULT_DUMP_SIGNAL; 0 if there is none or it is invalid. Does not allocate.
int dump_signal_in_environment() noexcept;

// Throws std::invalid_argument for invalid values.
void validate(const options &opts);

} // namespace fult::detail
