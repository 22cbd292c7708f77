// The reference: no tasks at all.
#pragma once

#include "common/kernel.hpp"

namespace bench {
inline const version serial_version{"serial", 1, [](unsigned, const std::function<void()> &body) { body(); }};
} // namespace bench
