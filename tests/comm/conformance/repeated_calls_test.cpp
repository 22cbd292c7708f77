// A task of the only worker repeats a call that finds nothing: what else is ready runs all the same.
// tests/layout/repeated_calls.txt says of each public call which of the kinds below it is, or why it is none.
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <utility>

#include "tests/comm/conformance/ranks.hpp"
#include "tests/support/repeat_until.hpp"

namespace {
namespace repeated_comm_calls {

using namespace fult::comm;
using namespace fult::comm::testing;
using fult::testing::repeat_until;
using step = std::function<void()>;

// Makes what the step needs, and passes it on.
struct kind {
    const char *name;
    void (*with)(party &p, const std::function<void(const step &)> &run);
};

// A request that completes only at its cancellation.
template <class Test> void with_request(party &p, const std::function<void(const step &)> &run, Test test) {
    int never = 0;
    request r = p.world.irecv(&never, sizeof never, p.rank, 5);
    run([&] { test(r); });
    EXPECT_TRUE(r.cancel());
    EXPECT_THROW(r.wait(), error);
}
void unfinished_test(party &p, const std::function<void(const step &)> &run) {
    with_request(p, run, [](request &r) { EXPECT_FALSE(r.test()); });
}
void unfinished_test_without_exceptions(party &p, const std::function<void(const step &)> &run) {
    with_request(p, run, [](request &r) {
        errc failure = errc::none;
        EXPECT_FALSE(r.test(failure));
    });
}
void unfinished_synchronizer(party &p, const std::function<void(const step &)> &run) {
    synchronizer one(p.world, 1);
    run([&] { EXPECT_FALSE(one.test()); });
    one.arrive();
    EXPECT_TRUE(one.test());
}
void try_pop_of_nothing(party &p, const std::function<void(const step &)> &run) {
    completion_queue none(p.world);
    run([&] { EXPECT_FALSE(none.try_pop()); });
}
void dequeue_of_nothing(party &p, const std::function<void(const step &)> &run) {
    endpoint e = p.make_endpoint({.delivery = delivery::queued});
    run([&] { EXPECT_FALSE(e.dequeue()); });
}
void try_probe_of_nothing(party &p, const std::function<void(const step &)> &run) {
    run([&] { EXPECT_FALSE(p.world.try_probe(p.rank, 5)); });
}
void try_mprobe_of_nothing(party &p, const std::function<void(const step &)> &run) {
    run([&] { EXPECT_FALSE(p.world.try_mprobe(p.rank, 5)); });
}

struct never_succeeds : ::testing::TestWithParam<kind> {
    // On the only rank and the only worker.
    static void repeat(const std::function<void(party &, const step &)> &body) {
        fult::options one = fult::testing::workers(1);
        const fult::runtime running(one);
        world_settings settings;
        settings.ranks = 1;
        run_ranks(settings,
                  [&](party &p, world &) { GetParam().with(p, [&](const step &take) { body(p, take); }); });
    }
};

TEST_P(never_succeeds, and_another_task_runs) {
    repeat([](party &, const step &take) {
        std::atomic<bool> ran{false};
        auto other = fult::spawn([&] { ran = true; });
        EXPECT_TRUE(repeat_until(ran, take));
        other.join();
    });
}

// A handler must not suspend: neither does what it calls.
TEST_P(never_succeeds, and_a_handler_that_repeats_it_does_not_suspend) {
    repeat([](party &p, const step &take) {
        std::atomic<bool> ran{false}, ran_inside{false};
        int calls = 0;
        endpoint handled = p.make_endpoint({.delivery = delivery::handler, .handler = [&](auto &, auto) {
                                                auto other = fult::spawn([&] { ran = true; });
                                                for (int i = 0; i < 2000; ++i, ++calls)
                                                    take();
                                                ran_inside = ran.load();
                                                other.detach();
                                            }});
        handled.send(nullptr, 0, p.rank, 1);
        EXPECT_EQ(calls, 2000);
        EXPECT_FALSE(ran_inside);
        while (!ran)
            fult::this_task::yield();
    });
}

INSTANTIATE_TEST_SUITE_P(
    of, never_succeeds,
    ::testing::Values(kind{"test", unfinished_test},
                      kind{"test_without_exceptions", unfinished_test_without_exceptions},
                      kind{"synchronizer", unfinished_synchronizer}, kind{"try_pop", try_pop_of_nothing},
                      kind{"dequeue", dequeue_of_nothing}, kind{"try_probe", try_probe_of_nothing},
                      kind{"try_mprobe", try_mprobe_of_nothing}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace repeated_comm_calls
} // namespace
