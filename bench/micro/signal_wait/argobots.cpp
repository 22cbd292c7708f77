#include "common/argobots_version.hpp"
#include "micro/signal_wait/signal_wait.hpp"

// Streams with one private pool each: the common set-up would steal both sides to one stream.
namespace {
using bench::check_abt;

ABT_pool pools[2];

void run_two_streams(unsigned, const std::function<void()> &body) {
    check_abt(ABT_init(0, nullptr), "ABT_init");
    ABT_xstream main_stream, other;
    check_abt(ABT_xstream_self(&main_stream), "ABT_xstream_self");
    check_abt(ABT_xstream_get_main_pools(main_stream, 1, &pools[0]), "ABT_xstream_get_main_pools");
    check_abt(ABT_xstream_create(ABT_SCHED_NULL, &other), "ABT_xstream_create");
    check_abt(ABT_xstream_get_main_pools(other, 1, &pools[1]), "ABT_xstream_get_main_pools");
    body();
    ABT_xstream_join(other);
    ABT_xstream_free(&other);
    ABT_finalize();
}

struct side {
    ABT_eventual mine; // set by this side, waited for by the other
    ABT_eventual other;
    bool first;
    int stream;
    unsigned long round_trips;
    unsigned long strays = 0;
};

void play_side(void *argument) {
    side &s = *static_cast<side *>(argument);
    for (unsigned long k = 1; k <= s.round_trips; ++k) {
        if (s.first)
            ABT_eventual_set(s.mine, nullptr, 0);
        ABT_eventual_wait(s.other, nullptr);
        ABT_eventual_reset(s.other); // before the partner may set it again
        if (!s.first)
            ABT_eventual_set(s.mine, nullptr, 0);
        int rank = -1;
        ABT_self_get_xstream_rank(&rank);
        s.strays += rank != s.stream;
    }
}

void play(unsigned long round_trips, unsigned long &strays) {
    ABT_eventual ping, pong;
    check_abt(ABT_eventual_create(0, &ping), "ABT_eventual_create");
    check_abt(ABT_eventual_create(0, &pong), "ABT_eventual_create");
    side sides[2] = {{ping, pong, true, 0, round_trips}, {pong, ping, false, 1, round_trips}};
    ABT_thread threads[2];
    for (int i = 0; i < 2; ++i)
        check_abt(ABT_thread_create(pools[i], play_side, &sides[i], ABT_THREAD_ATTR_NULL, &threads[i]),
                  "ABT_thread_create");
    for (int i = 0; i < 2; ++i) {
        ABT_thread_free(&threads[i]); // joins first
        strays += sides[i].strays;
    }
    ABT_eventual_free(&ping);
    ABT_eventual_free(&pong);
}

constexpr bench::version two_streams{"argobots", 2, run_two_streams};
} // namespace

int main(int argc, char **argv) { return bench::signal_wait_main(argc, argv, two_streams, play); }
