// Times of every clock and size: beyond the steady clock's range they are clamped, without overflow.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ratio>
#include <stop_token>
#include <unistd.h>

#include <fult/descriptor.hpp>

#include "tests/sync/crowd.hpp"

namespace {

using namespace std::chrono_literals;
using fult::detail::deadline_after;
using fult::detail::endless;
using fult::detail::has_come;
using fult::detail::rounding;
using fult::detail::steady_deadline;
using fult::detail::to_nanoseconds;
using steady = std::chrono::steady_clock;
template <class Rep, class Period = std::ratio<1>> using duration = std::chrono::duration<Rep, Period>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Duration> auto up(const Duration &d) { return to_nanoseconds<rounding::up>(d); }
template <class Duration> auto down(const Duration &d) { return to_nanoseconds<rounding::down>(d); }

// A user-defined clock with this duration, whose present is set.
template <class Duration, auto Present = 0> struct user_clock {
    using duration = Duration;
    using rep = typename Duration::rep;
    using period = typename Duration::period;
    using time_point = std::chrono::time_point<user_clock>;
    static constexpr bool is_steady = false;
    static time_point now() noexcept { return time_point(Duration(static_cast<rep>(Present))); }
};

// A class that counts, as a safe-integer library has it.
struct counted_ticks {
    long value = 0;
    constexpr counted_ticks() = default;
    constexpr counted_ticks(long v) : value(v) {}
    explicit constexpr operator long double() const { return static_cast<long double>(value); }
};

} // namespace

template <> struct std::common_type<counted_ticks, long double> { using type = long double; };
template <> struct std::common_type<long double, counted_ticks> { using type = long double; };
template <> struct std::common_type<counted_ticks, std::intmax_t> { using type = counted_ticks; };

namespace {

TEST(deadline, rounds_in_the_direction_that_is_never_early) {
    EXPECT_EQ(up(1us), 1000); // time: a lower bound
    EXPECT_EQ(up(duration<int, std::pico>(1)), 1);
    EXPECT_EQ(down(duration<int, std::pico>(1)), 0);
    EXPECT_EQ(up(duration<int, std::pico>(-1)), 0);
    EXPECT_EQ(down(duration<int, std::pico>(-1)), -1);
    EXPECT_EQ(up(duration<int, std::ratio<1, 3>>(1)), 333'333'334);
    EXPECT_EQ(down(duration<int, std::ratio<1, 3>>(1)), 333'333'333);
    EXPECT_EQ(down(duration<int, std::ratio<1, 3>>(-1)), -333'333'334);
    EXPECT_EQ(up(duration<double>(0.25)), 250'000'000);
    EXPECT_EQ(up(duration<double, std::nano>(1.5)), 2);
    EXPECT_EQ(down(duration<double, std::nano>(1.5)), 1);
    EXPECT_EQ(down(duration<double, std::nano>(-1.5)), -2);
    EXPECT_EQ(up(duration<counted_ticks>(counted_ticks(3))), 3'000'000'000);
    EXPECT_EQ(up(duration<bool>(true)), 1'000'000'000);
}

TEST(deadline, saturates) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    constexpr auto least = std::numeric_limits<std::int64_t>::min();
    using ages = std::ratio<std::numeric_limits<std::intmax_t>::max()>;
    EXPECT_EQ(up(std::chrono::hours::max()),
              static_cast<fult::detail::wide_nanoseconds>(std::chrono::hours::max().count()) *
                  3'600'000'000'000);
    EXPECT_EQ(up(duration<std::int64_t, ages>(most)), endless);
    EXPECT_EQ(up(duration<std::int64_t, ages>(least)), -endless);
    EXPECT_EQ(up(duration<std::uint64_t, ages>(~std::uint64_t{0})), endless);
    EXPECT_EQ(up(duration<std::uint64_t, std::ratio<ages::num, 7>>(~std::uint64_t{0})), endless);
    EXPECT_EQ(up(duration<double>(infinity)), endless);
    EXPECT_EQ(up(duration<float>(-static_cast<float>(infinity))), -endless);
    EXPECT_EQ(up(duration<double>(not_a_number)), -endless) << "has passed";
    EXPECT_EQ(up(duration<double>(1e300)), endless);
    EXPECT_EQ(up(duration<counted_ticks, ages>(counted_ticks(most))), endless);
}

TEST(deadline, durations) {
    const auto before = steady::now(); // time: a lower bound
    const auto expect_now = [&](auto d) {
        const auto deadline = deadline_after(d);
        EXPECT_GE(deadline, before);
        EXPECT_LE(deadline, steady::now()); // time: a lower bound
    };
    const auto expect_never = [](auto d) { EXPECT_EQ(deadline_after(d), steady::time_point::max()); };
    expect_now(0s);
    expect_now(-1h);
    expect_now(std::chrono::hours::min());
    expect_now(std::chrono::nanoseconds::min());
    expect_now(duration<double>(not_a_number));
    expect_now(duration<double>(-infinity));
    expect_never(std::chrono::hours::max());
    expect_never(std::chrono::nanoseconds::max());
    expect_never(duration<double>(infinity));
    expect_never(duration<float, std::pico>(std::numeric_limits<float>::max()));
    // time: given, never reached
    EXPECT_GE(deadline_after(duration<std::int32_t, std::milli>::max()), before + 24 * 24h);
    EXPECT_LT(deadline_after(duration<std::int32_t, std::milli>::max()), steady::time_point::max());
}

TEST(deadline, times_of_any_clock) {
    using small =
        user_clock<duration<std::int32_t, std::ratio<3600>>, std::numeric_limits<std::int32_t>::max() - 1>;
    EXPECT_TRUE(has_come(small::time_point::min())) << "min() - now() does not fit in 32 bits";
    EXPECT_FALSE(has_come(small::time_point::max()));
    EXPECT_GE(steady_deadline(small::time_point::max()), steady::now() + 30min); // time: given, never reached
    using far_epoch =
        user_clock<duration<std::int64_t>, std::int64_t{1} << 55>;       // a thousand million years ago
    EXPECT_FALSE(has_come(far_epoch::now() + 1h));                       // time: given, never reached
    EXPECT_TRUE(has_come(far_epoch::now() - 1s));                        // time: a lower bound
    const auto before = steady::now();                                   // time: a lower bound
    const auto in_an_hour = steady_deadline(far_epoch::now() + 1h + 1s); // time: given, never reached
    // time: given, never reached
    EXPECT_GE(in_an_hour, before + 1h + 1s) << "beyond 64 bits of nanoseconds, to the second nevertheless";
    EXPECT_LE(in_an_hour, steady::now() + 1h + 1s); // time: given, never reached
    using unsigned_clock = user_clock<duration<std::uint32_t>, 5u>;
    EXPECT_TRUE(has_come(unsigned_clock::time_point::min())) << "now() is behind it: no wrap-around";
    using fractions = user_clock<duration<double>>;
    EXPECT_TRUE(has_come(fractions::time_point(duration<double>(not_a_number))));
    EXPECT_FALSE(has_come(fractions::time_point(duration<double>(infinity))));
    EXPECT_TRUE(has_come(fractions::time_point(duration<double>(-infinity))));
    EXPECT_EQ(steady_deadline(fractions::time_point(duration<double>(infinity))), steady::time_point::max());
    EXPECT_TRUE(has_come(std::chrono::time_point<steady, std::chrono::hours>::min()));
    EXPECT_FALSE(has_come(std::chrono::time_point<steady, std::chrono::hours>::max()));
    EXPECT_FALSE(has_come(std::chrono::time_point<std::chrono::system_clock, std::chrono::hours>::max()));
}

// Every timed call with a time. If it has passed, each times out. Else each waits for the event that the
// others cause.
struct timed_calls {
    fult::qlock lock;
    fult::shared_qlock shared;
    fult::condition_variable changed;
    fult::counting_semaphore<> none{0};
    fult::latch closed_latch{1};
    fult::event unset;
    fult::promise<int> promise;
    fult::future<int> future = promise.get_future();
    fult::channel<int> empty{1}, full{1};
    fult::full_empty<int> vacant, taken{1};
    int ends[2];

    timed_calls() {
        EXPECT_EQ(::pipe(ends), 0);
        EXPECT_TRUE(full.try_send(1));
        lock.lock();
        shared.lock();
    }
    ~timed_calls() {
        for (const int end : ends)
            ::close(end);
    }

    template <class Time> void expect_none_waits(const Time &time) {
        fult::qlock own;
        own.lock();
        EXPECT_FALSE(lock.try_lock_until(time));
        EXPECT_FALSE(shared.try_lock_until(time));
        EXPECT_FALSE(shared.try_lock_shared_until(time));
        EXPECT_EQ(changed.wait_until(own, time), fult::cv_status::timeout);
        EXPECT_FALSE(changed.wait_until(own, time, [] { return false; }));
        EXPECT_FALSE(changed.wait_until(own, std::stop_token(), time, [] { return false; }));
        EXPECT_FALSE(none.try_acquire_until(time));
        EXPECT_FALSE(closed_latch.wait_until(time));
        EXPECT_FALSE(unset.wait_until(time));
        EXPECT_EQ(future.wait_until(time), fult::future_status::timeout);
        EXPECT_FALSE(empty.try_receive_until(time));
        EXPECT_FALSE(full.try_send_until(2, time));
        EXPECT_FALSE(vacant.try_readFF_until(time));
        EXPECT_FALSE(vacant.try_readFE_until(time));
        EXPECT_FALSE(taken.try_writeEF_until(2, time));
        EXPECT_EQ(fult::wait_readable_until(ends[0], time), fult::descriptor_status::timed_out);
        fult::this_task::sleep_until(time);                                 // time: a lower bound
        EXPECT_TRUE(fult::this_task::sleep_until(std::stop_token(), time)); // time: a lower bound
        own.unlock();
    }

    // On one worker: what ends each wait runs only when the caller waits.
    template <class Time> void expect_all_wait(const Time &time) {
        bool ended = false;
        const auto expect = [&](const char *what, auto call, auto end) {
            ended = false;
            auto ender = fult::spawn([&] {
                ended = true;
                end();
            });
            EXPECT_TRUE(call()) << what;
            EXPECT_TRUE(ended) << what << " did not wait";
            ender.join();
        };
        expect(
            "qlock", [&] { return lock.try_lock_until(time); }, [&] { lock.unlock(); });
        expect(
            "shared_qlock", [&] { return shared.try_lock_until(time); }, [&] { shared.unlock(); });
        expect(
            "shared_qlock, shared", [&] { return shared.try_lock_shared_until(time); },
            [&] { shared.unlock(); });
        shared.unlock_shared();
        shared.lock();
        fult::qlock own;
        own.lock();
        expect(
            "condition_variable",
            [&] { return changed.wait_until(own, time) == fult::cv_status::no_timeout; },
            [&] { changed.notify_all(); });
        own.unlock();
        expect(
            "semaphore", [&] { return none.try_acquire_until(time); }, [&] { none.release(); });
        expect(
            "latch", [&] { return closed_latch.wait_until(time); }, [&] { closed_latch.count_down(); });
        expect(
            "event", [&] { return unset.wait_until(time); }, [&] { unset.set(); });
        expect(
            "future", [&] { return future.wait_until(time) == fult::future_status::ready; },
            [&] { promise.set_value(1); });
        expect(
            "receive", [&] { return empty.try_receive_until(time) == 1; }, [&] { (void)empty.try_send(1); });
        expect(
            "send", [&] { return full.try_send_until(2, time); }, [&] { EXPECT_EQ(full.try_receive(), 1); });
        expect(
            "readFF", [&] { return vacant.try_readFF_until(time) == 1; }, [&] { vacant.writeF(1); });
        vacant.purge();
        expect(
            "readFE", [&] { return vacant.try_readFE_until(time) == 1; }, [&] { vacant.writeF(1); });
        expect(
            "writeEF", [&] { return taken.try_writeEF_until(2, time); }, [&] { taken.purge(); });
        expect(
            "wait_readable",
            [&] { return fult::wait_readable_until(ends[0], time) == fult::descriptor_status::ready; },
            [&] { EXPECT_EQ(::write(ends[1], "x", 1), 1); });
        std::stop_source stop;
        expect(
            // time: a lower bound
            "sleep_until", [&] { return !fult::this_task::sleep_until(stop.get_token(), time); },
            [&] { stop.request_stop(); });
    }
};

TEST(deadline, every_call_gives_up_where_the_time_has_come) {
    fult::runtime rt(fult::testing::workers(1));
    const auto check = [](const auto &time) {
        timed_calls().expect_none_waits(time);
        std::thread([&] { timed_calls().expect_none_waits(time); }).join();
    };
    using std::chrono::time_point;
    check(steady::time_point::min());
    check(time_point<steady, std::chrono::hours>::min());
    check(std::chrono::system_clock::time_point::min());
    check(time_point<std::chrono::system_clock, std::chrono::hours>::min());
    check(time_point<std::chrono::system_clock, duration<double>>(duration<double>(not_a_number)));
    check(user_clock<duration<std::int32_t, std::milli>, 1'000'000'000>::time_point::min());
}

TEST(deadline, every_call_waits_where_it_is_far) {
    fult::runtime rt(fult::testing::workers(1));
    using std::chrono::time_point;
    timed_calls().expect_all_wait(steady::time_point::max());
    timed_calls().expect_all_wait(time_point<steady, std::chrono::hours>::max());
    timed_calls().expect_all_wait(std::chrono::system_clock::time_point::max());
    timed_calls().expect_all_wait(time_point<std::chrono::system_clock, std::chrono::hours>::max());
    timed_calls().expect_all_wait(
        time_point<std::chrono::system_clock, duration<double>>(duration<double>(infinity)));
    timed_calls().expect_all_wait(
        user_clock<duration<std::int32_t, std::milli>, -1'000'000'000>::time_point::max());
}

} // namespace
