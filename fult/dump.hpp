// The report of all tasks, in text.
#pragma once

#include <functional>
#include <string_view>

namespace fult::detail {

// Hands the report over piece by piece, and returns the number of tasks. May throw std::bad_alloc.
std::size_t write_report(const std::function<void(std::string_view)> &sink);

// The same to a file descriptor; says so where memory is lacking. Waits while it takes nothing.
void write_report(int descriptor) noexcept;

} // namespace fult::detail
