// A task of the only worker repeats a call that finds nothing to wait for: what else is ready runs all the
// same. tests/layout/repeated_calls.txt says of each public call which of the kinds below it is, or why it is
// none.
#include <array>
#include <atomic>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/blocking.hpp>
#include <fult/descriptor.hpp>
#include <fult/fult.hpp>
#include <fult/loops.hpp>
#include <fult/sync.hpp>

#include "tests/support/repeat_until.hpp"
#include "tests/support/support.hpp"

namespace {
namespace repeated_calls {

using namespace std::chrono_literals;
using fult::spawn;
using fult::testing::workers;
namespace this_task = fult::this_task;

// Something that is to happen while a task of the only worker repeats a step that never waits.
struct step {
    const char *name;
    std::function<void()> take;
};

void join_in_place() {
    spawn([] {}).join();
}
void join_on_its_worker_alone() {
    fult::spawn_pinned(0, [] {}).join();
}
void wait_all_in_place() {
    auto one = spawn([] {});
    auto other = spawn([] {});
    wait_all(one);
    other.wait();
    join_all(one, other);
}
void wait_any_in_place() {
    auto one = spawn([] {});
    (void)fult::wait_any(one);
    one.join();
}
void a_blocking_call() {
    fult::run_blocking([] {});
}
void group_in_place() {
    fult::task_group group;
    group.spawn([] {});
    group.wait();
}
void join_all_in_place() {
    std::vector<fult::handle<void>> some;
    for (int i = 0; i < 8; ++i)
        some.push_back(spawn([] {}));
    join_all(some);
    (void)join_all(spawn([] {}), spawn([] { return 1; }));
}
void join_with_a_name() {
    spawn({.name = "named"}, [] {}).join();
}
void join_on_a_worker() {
    fult::spawn_on(0, [] {}).join();
}
void join_with_locals() {
    static const fult::task_local_ptr<int> key;
    static int value = 0;
    spawn({.inherit_locals = true, .locals = {key.make_value(&value)}}, [] {}).join();
}
void join_with_much_captured() {
    const std::array<char, 200> much{};
    spawn([much] { EXPECT_EQ(much[0], 0); }).join();
}
void group_with_a_name() {
    fult::task_group group;
    group.spawn({.name = "named"}, [] {});
    group.wait();
}
template <fult::schedule How> void short_loop() {
    fult::parallel_for(0, 10, [](int) {}, {.schedule = How});
}
void short_loop_over_a_grid() {
    fult::parallel_for(fult::extent(2, 3), [](std::size_t, std::size_t) {});
}
void short_loop_over_ranges() {
    fult::parallel_for_ranges(0, 10, [](int, int) {});
}
template <bool Ordered> void short_reduction() {
    EXPECT_EQ(fult::parallel_reduce(0, 10, 0, [](int i) { return i; }, std::plus<>(), {.ordered = Ordered}),
              45);
}
void short_sort() {
    std::array<int, 8> some{3, 1, 2};
    fult::parallel_sort(some.begin(), some.end());
}
void invoke_one() {
    fult::parallel_invoke([] {});
}
// time: either order is right
void a_nanosecond() { this_task::sleep_for(1ns); }
// time: either order is right
void a_time_in_the_past() { this_task::sleep_until(std::chrono::steady_clock::time_point{} + 1s); }
void a_signal_to_itself() {
    signal(this_task::id());
    this_task::wait();
}

struct pipe_ends {
    int ends[2] = {-1, -1};
    explicit pipe_ends(bool full) {
        EXPECT_EQ(::pipe2(ends, O_NONBLOCK), 0);
        EXPECT_EQ(::write(ends[1], "x", 1), 1);
        const std::array<char, 4096> some{};
        while (full && ::write(ends[1], some.data(), some.size()) > 0)
            ;
        if (full)
            while (::write(ends[1], "x", 1) > 0)
                ;
    }
    pipe_ends(const pipe_ends &) = delete;
    pipe_ends &operator=(const pipe_ends &) = delete;
    ~pipe_ends() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
};
const pipe_ends &full_pipe() {
    static const pipe_ends all(true);
    return all;
}
const pipe_ends &short_pipe() { // there is something to read, and room
    static const pipe_ends all(false);
    return all;
}
int nothing_to_read() { // the end of a pipe to which another writes
    static const int quiet = ::eventfd(0, EFD_NONBLOCK);
    return quiet;
}
void a_readable_descriptor() {
    EXPECT_EQ(fult::wait_readable(short_pipe().ends[0]), fult::descriptor_status::ready);
}
void a_writable_descriptor() {
    EXPECT_EQ(fult::wait_writable(short_pipe().ends[1]), fult::descriptor_status::ready);
}

// Waits that end at once without a result: the deadline has passed, or a stop was requested.
const auto long_ago = std::chrono::steady_clock::time_point{} + 1s; // time: given, never reached
std::stop_token stopped() {
    static const auto requested = [] {
        std::stop_source source;
        source.request_stop();
        return source.get_token();
    }();
    return requested;
}
constexpr auto fails = [] { return false; };

// An object for which the caller would have to wait.
template <class Lock> struct held : Lock {
    held() { this->lock(); }
    ~held() { this->unlock(); }
};
struct condition {
    fult::qlock lock;
    std::unique_lock<fult::qlock> held{lock};
    fult::condition_variable changed;
};
struct unset {
    fult::promise<int> source;
    fult::future<int> value = source.get_future();
};
struct full_channel : fult::channel<int> {
    full_channel() : fult::channel<int>(1) { EXPECT_TRUE(try_send(1)); }
};

const step waits_without_result[] = {
    {"qlock_for", [] { EXPECT_FALSE(held<fult::qlock>().try_lock_for(0s)); }},
    {"qlock_until", [] { EXPECT_FALSE(held<fult::qlock>().try_lock_until(long_ago)); }},
    {"qlock_stop", [] { EXPECT_FALSE(held<fult::qlock>().lock(stopped())); }},
    {"shared_qlock_for", [] { EXPECT_FALSE(held<fult::shared_qlock>().try_lock_for(0s)); }},
    {"shared_qlock_until", [] { EXPECT_FALSE(held<fult::shared_qlock>().try_lock_until(long_ago)); }},
    {"shared_qlock_stop", [] { EXPECT_FALSE(held<fult::shared_qlock>().lock(stopped())); }},
    {"shared_for", [] { EXPECT_FALSE(held<fult::shared_qlock>().try_lock_shared_for(0s)); }},
    {"shared_until", [] { EXPECT_FALSE(held<fult::shared_qlock>().try_lock_shared_until(long_ago)); }},
    {"shared_stop", [] { EXPECT_FALSE(held<fult::shared_qlock>().lock_shared(stopped())); }},
    {"semaphore_for", [] { EXPECT_FALSE(fult::binary_semaphore(0).try_acquire_for(0s)); }},
    {"semaphore_until", [] { EXPECT_FALSE(fult::binary_semaphore(0).try_acquire_until(long_ago)); }},
    {"semaphore_stop", [] { EXPECT_FALSE(fult::binary_semaphore(0).acquire(stopped())); }},
    {"event_for", [] { EXPECT_FALSE(fult::event().wait_for(-1s)); }}, // time: given, never reached
    {"event_until", [] { EXPECT_FALSE(fult::event().wait_until(long_ago)); }},
    {"event_stop", [] { EXPECT_FALSE(fult::event().wait(stopped())); }},
    {"latch_for", [] { EXPECT_FALSE(fult::latch(1).wait_for(0s)); }},
    {"latch_until", [] { EXPECT_FALSE(fult::latch(1).wait_until(long_ago)); }},
    {"latch_stop", [] { EXPECT_FALSE(fult::latch(1).wait(stopped())); }},
    {"future_for", [] { unset().value.wait_for(0s); }},
    {"future_until", [] { unset().value.wait_until(long_ago); }},
    {"future_stop", [] { EXPECT_FALSE(unset().value.wait(stopped())); }},
    {"send_for", [] { EXPECT_FALSE(full_channel().try_send_for(2, 0s)); }},
    {"send_until", [] { EXPECT_FALSE(full_channel().try_send_until(2, long_ago)); }},
    {"send_stop", [] { EXPECT_FALSE(full_channel().send(2, stopped())); }},
    {"receive_for", [] { EXPECT_FALSE(fult::channel<int>(1).try_receive_for(0s)); }},
    {"receive_until", [] { EXPECT_FALSE(fult::channel<int>(1).try_receive_until(long_ago)); }},
    {"receive_stop", [] { EXPECT_FALSE(fult::channel<int>(1).receive(stopped())); }},
    {"try_readFE_for", [] { EXPECT_FALSE(fult::full_empty<int>().try_readFE_for(0s)); }},
    {"try_readFE_until", [] { EXPECT_FALSE(fult::full_empty<int>().try_readFE_until(long_ago)); }},
    {"readFE_stop", [] { EXPECT_FALSE(fult::full_empty<int>().readFE(stopped())); }},
    {"try_readFF_for", [] { EXPECT_FALSE(fult::full_empty<int>().try_readFF_for(0s)); }},
    {"try_readFF_until", [] { EXPECT_FALSE(fult::full_empty<int>().try_readFF_until(long_ago)); }},
    {"readFF_stop", [] { EXPECT_FALSE(fult::full_empty<int>().readFF(stopped())); }},
    {"try_writeEF_for", [] { EXPECT_FALSE(fult::full_empty<int>(1).try_writeEF_for(2, 0s)); }},
    {"try_writeEF_until", [] { EXPECT_FALSE(fult::full_empty<int>(1).try_writeEF_until(2, long_ago)); }},
    {"writeEF_stop", [] { EXPECT_FALSE(fult::full_empty<int>(1).writeEF(2, stopped())); }},
    {"condition_for",
     [] {
         condition c;
         c.changed.wait_for(c.held, 0s);
     }},
    {"condition_until",
     [] {
         condition c;
         EXPECT_FALSE(c.changed.wait_until(c.held, long_ago, fails));
     }},
    {"condition_stop",
     [] {
         condition c;
         EXPECT_FALSE(c.changed.wait(c.held, stopped(), fails));
     }},
    {"condition_for_stop",
     [] {
         condition c;
         EXPECT_FALSE(c.changed.wait_for(c.held, stopped(), 1h, fails)); // time: given, never reached
     }},
    {"wait_stop", [] { EXPECT_FALSE(this_task::wait(stopped(), fails)); }},
    {"sleep_stop", [] { EXPECT_FALSE(this_task::sleep_for(stopped(), 1h)); }}, // time: given, never reached
    {"sleep_until_stop", [] { this_task::sleep_until(stopped(), long_ago); }}, // time: given, never reached
    {"readable_for",
     [] { EXPECT_NE(fult::wait_readable_for(nothing_to_read(), 0s), fult::descriptor_status::ready); }},
    {"readable_until",
     [] {
         EXPECT_NE(fult::wait_readable_until(nothing_to_read(), long_ago), fult::descriptor_status::ready);
     }},
    {"readable_stop",
     [] { EXPECT_NE(fult::wait_readable(nothing_to_read(), stopped()), fult::descriptor_status::ready); }},
    {"writable_for",
     [] { EXPECT_NE(fult::wait_writable_for(full_pipe().ends[1], 0s), fult::descriptor_status::ready); }},
    {"writable_until",
     [] {
         EXPECT_NE(fult::wait_writable_until(full_pipe().ends[1], long_ago), fult::descriptor_status::ready);
     }},
    {"writable_stop",
     [] { EXPECT_NE(fult::wait_writable(full_pipe().ends[1], stopped()), fult::descriptor_status::ready); }},
};

class never_waits : public ::testing::TestWithParam<step> {
  protected:
    never_waits() {
        fult::options o = workers(1);
        running.emplace(o);
    }
    // Steps are counted once it is ready.
    template <class Ready = bool (*)()>
    bool repeat_until(
        const std::atomic<bool> &condition, Ready is_ready = [] { return true; }) {
        while (!is_ready() && !condition.load())
            GetParam().take();
        return fult::testing::repeat_until(condition, GetParam().take);
    }
    std::optional<fult::runtime> running;
};
INSTANTIATE_TEST_SUITE_P(
    steps, never_waits,
    ::testing::Values(
        step{"join", join_in_place}, step{"group", group_in_place}, step{"join_all", join_all_in_place},
        step{"named_join", join_with_a_name}, step{"placed_join", join_on_a_worker},
        step{"join_with_locals", join_with_locals}, step{"boxed_join", join_with_much_captured},
        step{"named_group", group_with_a_name}, step{"lazy_loop", short_loop<fult::schedule::lazy>},
        step{"guided_loop", short_loop<fult::schedule::guided>},
        step{"fixed_loop", short_loop<fult::schedule::fixed>}, step{"reduction", short_reduction<false>},
        step{"ordered_reduction", short_reduction<true>}, step{"sort", short_sort},
        step{"invoke", invoke_one}, step{"a_nanosecond", a_nanosecond}, step{"the_past", a_time_in_the_past},
        step{"own_signal", a_signal_to_itself}, step{"readable", a_readable_descriptor},
        step{"writable", a_writable_descriptor}, step{"pinned_join", join_on_its_worker_alone},
        step{"wait_all", wait_all_in_place}, step{"wait_any", wait_any_in_place},
        step{"blocking", a_blocking_call}, step{"loop_over_a_grid", short_loop_over_a_grid},
        step{"loop_over_ranges", short_loop_over_ranges}),
    [](const auto &info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(without_result, never_waits, ::testing::ValuesIn(waits_without_result),
                         [](const auto &info) { return std::string(info.param.name); });

TEST_P(never_waits, a_task_that_has_not_started) {
    std::atomic<bool> ran{false};
    auto other = spawn([&] { ran = true; });
    EXPECT_TRUE(repeat_until(ran));
    other.join();
}

TEST_P(never_waits, a_task_that_yields) {
    std::atomic<bool> ran{false};
    std::atomic<int> turns{0};
    auto other = spawn([&] {
        while (++turns < 10)
            this_task::yield();
        ran = true;
    });
    EXPECT_TRUE(repeat_until(ran));
    other.join();
}

TEST_P(never_waits, a_timer) {
    std::atomic<bool> ran{false}, sleeps{false};
    auto other = spawn([&] {
        sleeps = true;
        this_task::sleep_for(1ms); // time: either order is right
        ran = true;
    });
    while (!sleeps.load())
        this_task::yield();
    const auto due = std::chrono::steady_clock::now() + 1ms; // time: either order is right
    // time: either order is right
    EXPECT_TRUE(repeat_until(ran, [&] { return std::chrono::steady_clock::now() > due; }));
    other.join();
}

TEST_P(never_waits, a_descriptor) {
    std::atomic<bool> ran{false}, waits{false};
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto other = spawn([&] {
        waits = true;
        fult::wait_readable(ends[0]);
        ran = true;
    });
    while (!waits.load())
        this_task::yield();
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    EXPECT_TRUE(repeat_until(ran));
    other.join();
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_P(never_waits, foreign_threads) {
    std::atomic<bool> ran{false}, spawned{false};
    std::thread foreign([&] {
        auto task = spawn([&] { ran = true; });
        spawned = true;
        task.join();
    });
    EXPECT_TRUE(repeat_until(ran, [&] { return spawned.load(); }));
    while (!ran.load()) // else the join below would hang
        this_task::yield();
    foreign.join();
}

} // namespace repeated_calls
} // namespace
