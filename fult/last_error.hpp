// Why the last call of the C interface failed on this thread.
#pragma once

namespace fult::detail {

// Copied, up to some length. Out of line, as all that touches it: a task may have changed threads.
void set_last_error(const char *what) noexcept;
void set_last_error(const char *call, const char *what) noexcept; // "<call>: <what>"

} // namespace fult::detail
