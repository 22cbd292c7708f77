// The one table of options: parsing, fult-info and docs/environment.md are made from it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <fult/options.hpp>

namespace fult::detail {

inline constexpr std::size_t most_stack = std::size_t{1} << 30;

struct option_row {
    const char *variable; // FULT_...
    const char *type;     // as documented
    const char *fallback; // the default, as documented
    const char *help;
    void (*parse)(options &into,
                  std::string_view text); // throws std::invalid_argument with what the value may be
    std::string (*print)(const options &from);
};

std::span<const option_row> option_table() noexcept;

// Where an option's value comes from.
bool set_in_environment(const option_row &row) noexcept;

// Throws std::invalid_argument for values that no runtime can have.
void validate(const options &opts);

} // namespace fult::detail
