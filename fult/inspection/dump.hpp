// The report of all tasks, as text.
#pragma once

#include <functional>
#include <string_view>

namespace fult::detail {

// Passes the report to `sink` in parts. Returns the number of tasks. May throw std::bad_alloc.
std::size_t write_report(const std::function<void(std::string_view)> &sink);

// The same to a file descriptor. If memory cannot be allocated, writes a line about that. Blocks while the
// descriptor is not writable.
void write_report(int descriptor) noexcept;

} // namespace fult::detail
