// The reason why the last call of the C interface failed on this thread.
#pragma once

namespace fult::detail {

// Copies the text, truncated to a fixed length; without memory for it, the text says that. Not inlined, like
// everything that accesses the buffer: a task may have resumed on a different thread.
void set_last_error(const char *what) noexcept;
void set_last_error(const char *call, const char *what) noexcept; // "<call>: <what>"

} // namespace fult::detail
