// The options of fult-comm: one table for the environment, the help and the documents.
#pragma once

#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <fult/comm/context.hpp>

namespace fult::comm::detail {

struct comm_option_row {
    const char *variable;
    const char *values;
    const char *by_default;
    const char *what;
    void (*parse)(options &, std::string_view); // throws std::invalid_argument with the permitted values
    std::string (*print)(const options &);
};

FULT_API std::span<const comm_option_row> comm_option_table() noexcept;
// The value in the environment, or nullptr; an empty variable counts as unset.
inline const char *in_environment(const comm_option_row &row) noexcept {
    const char *found = std::getenv(row.variable);
    return found && *found != '\0' ? found : nullptr;
}

} // namespace fult::comm::detail
