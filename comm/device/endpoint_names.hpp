// Names of endpoints in reports, for libraries whose users know an endpoint by another name than its number.
#pragma once

#include <array>

namespace fult::comm::detail {

using endpoint_label = std::array<char, 32>; // terminated by zero; empty: no name

// Longer names are cut. A report may read the name at any moment, from any thread: it may get parts of two.
void set_endpoint_label(unsigned number, const char *name) noexcept;
endpoint_label endpoint_label_of(unsigned number) noexcept;

} // namespace fult::comm::detail
