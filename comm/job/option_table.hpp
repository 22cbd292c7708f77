// The table of fult-comm's options: fult-comm-info and docs/communication-options.md show it.
#pragma once

#include <span>

#include <fult/comm/context.hpp>

#include "fult/base/option_row.hpp"

namespace fult::comm::detail {

using comm_option_row = fult::detail::option_row<options>;

FULT_API std::span<const comm_option_row> comm_option_table() noexcept;

} // namespace fult::comm::detail
