// The end of a process whose initial thread has ended by pthread_exit. It ends when the last thread of the
// program does; but the C library counts the workers as well, which never end.
#pragma once

namespace fult::omp {

// On the initial thread: its end is seen.
void watch_initial_thread() noexcept;
// When workers have started, under the mutex of that: if the initial thread has ended, or once it does, ends
// the process after the last thread of the program.
void await_last_thread() noexcept;

} // namespace fult::omp
