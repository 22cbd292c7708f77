#include "common/qthreads_version.hpp"
#include "micro/signal_wait/signal_wait.hpp"

// Two shepherds of one worker each, so that a task can be kept on its own.
namespace {
void run_two_shepherds(unsigned workers, const std::function<void()> &body) {
    setenv("QTHREAD_NUM_SHEPHERDS", "2", 1);
    setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    bench::run_qthreads(workers, body);
}

struct side {
    syncvar_t *mine; // filled by this side, emptied by the other
    syncvar_t *other;
    bool first;
    qthread_shepherd_id_t shepherd;
    unsigned long round_trips;
};

aligned_t play_side(void *argument) {
    const side &s = *static_cast<side *>(argument);
    unsigned long strays = 0;
    for (unsigned long k = 1; k <= s.round_trips; ++k) {
        if (s.first)
            qthread_syncvar_writeEF_const(s.mine, 1);
        uint64_t value = 0;
        qthread_syncvar_readFE(&value, s.other);
        if (!s.first)
            qthread_syncvar_writeEF_const(s.mine, 1);
        strays += qthread_shep() != s.shepherd;
    }
    return strays;
}

void play(unsigned long round_trips, unsigned long &strays) {
    alignas(128) syncvar_t ping = bench::empty_syncvar();
    alignas(128) syncvar_t pong = bench::empty_syncvar();
    side sides[2] = {{&ping, &pong, true, 0, round_trips}, {&pong, &ping, false, 1, round_trips}};
    syncvar_t done[2] = {bench::empty_syncvar(), bench::empty_syncvar()};
    for (unsigned i = 0; i < 2; ++i)
        qthread_fork_syncvar_to(play_side, &sides[i], &done[i], sides[i].shepherd);
    for (syncvar_t &each : done) {
        uint64_t value = 0;
        qthread_syncvar_readFF(&value, &each);
        strays += value;
    }
}

constexpr bench::version two_shepherds{"qthreads", 2, run_two_shepherds};
} // namespace

int main(int argc, char **argv) { return bench::signal_wait_main(argc, argv, two_shepherds, play); }
