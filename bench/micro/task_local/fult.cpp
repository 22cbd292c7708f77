// Reading a task-local value, nanoseconds a read. Beside it: a thread_local variable of this program.
#include "common/clock.hpp"
#include "common/fult_version.hpp"
#include "common/micro.hpp"

namespace {
using namespace bench;

constexpr unsigned long reads = 20'000'000;

thread_local long *of_thread = nullptr;

// A call of the program's own between two reads may change either, so each read is one from memory.
template <class Read> double read_ns(Read read) {
    double best = 1e9;
    for (int turn = 0; turn < 5; ++turn) {
        long sum = 0;
        const double seconds = timed([&] {
            for (unsigned long i = 0; i < reads; ++i) {
                asm volatile("" ::: "memory");
                sum += *read();
            }
        });
        keep(sum);
        best = std::min(best, seconds * 1e9 / double(reads));
    }
    return best;
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    arguments line("task_local: reading a task-local value, nanoseconds.");
    settings.declare(line);
    line.parse(argc, argv);
    return run_micro("task_local", fult_version, settings, [&] {
        static long value = 1;
        static const fult::task_local_ptr<long> of_task;
        of_thread = &value;
        of_task.set(&value);
        const double thread = read_ns([] { return of_thread; });
        const double task = read_ns([] { return of_task.get(); });
        report({"task_local", "read", "fult", settings.workers, task, "ns"}, "thread_local", thread);
        return std::string();
    });
}
