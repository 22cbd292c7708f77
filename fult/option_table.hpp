// The one table of options: parsing, fult-info and docs/environment.md are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <fult/options.hpp>

namespace fult::detail {

inline constexpr std::size_t most_stack = std::size_t{1} << 30;
inline constexpr std::size_t most_tasks = 8064 * 1024; // what half of a home has slots for

struct option_row {
    const char *variable; // FULT_...
    const char *type;     // as documented
    const char *fallback; // the default, as documented
    const char *help;
    const char *must_be; // the end of "... must be "
    // Reads the value; false: it is not of that type. The range is checked by `valid`, wherever the value
    // comes from.
    bool (*parse)(options &into, std::string_view text);
    bool (*valid)(const options &checked);
    std::string (*print)(const options &from);
};

std::span<const option_row> option_table() noexcept;

// Its value in the environment; null where the variable is unset or empty.
const char *in_environment(const option_row &row) noexcept;

// What FULT_DUMP_SIGNAL names; 0: nothing, or no such signal. Allocates nothing.
int dump_signal_in_environment() noexcept;

// Throws std::invalid_argument for values that no runtime can have.
void validate(const options &opts);

} // namespace fult::detail
