// Processor time of this process, as the system counts it.
#pragma once

#include <sys/resource.h>

namespace bench {

// Seconds, of all threads, in the program and in the kernel.
inline double processor_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    auto seconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

} // namespace bench
