// Small histories of a channel, and of promises and futures, by tasks and foreign threads under random
// delays: each must be explained by a sequential object. That the search rejects others is checked by the
// first tests.
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>

#include "tests/sync/crowd.hpp"
#include "tests/sync/history.hpp"

namespace {

using fult::channel;
using fult::spawn;
using fult::testing::call;
using fult::testing::crowd;
using fult::testing::history;
using fult::testing::linearizable;
using fult::testing::recorder;

// The sequential objects -----------------------------------------------------------------------------------

// A bounded queue with an end. With capacity 0, what was sent is received by the very next operation; that
// both happen at once is for `partners_met`.
struct queue_object {
    enum kind { send, try_send, receive, try_receive, close, is_closed };
    struct operation {
        kind what;
        int value = 0;   // sent or received
        bool ok = false; // sent, received; is_closed: it is
        friend std::ostream &operator<<(std::ostream &out, const operation &o) {
            static constexpr const char *names[] = {"send",        "try_send", "receive",
                                                    "try_receive", "close",    "closed"};
            return out << names[o.what] << ' ' << o.value << (o.ok ? " yes" : " no");
        }
    };
    struct state {
        std::vector<int> values;
        bool closed = false;
        auto operator<=>(const state &) const = default;
    };

    std::size_t capacity;

    bool may_end(const state &s) const { return s.values.size() <= capacity; }
    bool apply(state &s, const operation &o) const {
        const bool receives = o.what == receive || o.what == try_receive;
        if (!may_end(s) && !(receives && o.ok))
            return false;
        switch (o.what) {
        case send:
        case try_send:
            if (!o.ok)
                return s.closed || (o.what == try_send && s.values.size() == capacity);
            if (s.closed || s.values.size() >= std::max<std::size_t>(capacity, 1))
                return false;
            s.values.push_back(o.value);
            return true;
        case receive:
        case try_receive:
            if (!o.ok)
                return s.values.empty() && (s.closed || o.what == try_receive);
            if (s.values.empty() || s.values.front() != o.value)
                return false;
            s.values.erase(s.values.begin());
            return true;
        case close:
            s.closed = true;
            return true;
        case is_closed:
            return o.ok == s.closed;
        }
        return false;
    }
};

// Whether each value was received during its send: with capacity 0. No value is sent twice.
bool partners_met(const history<queue_object::operation> &all) {
    using q = queue_object;
    const auto has = [](const auto &c, q::kind a, q::kind b) {
        return (c.operation.what == a || c.operation.what == b) && c.operation.ok;
    };
    for (const auto &sent : all)
        for (const auto &got : all)
            if (has(sent, q::send, q::try_send) && has(got, q::receive, q::try_receive) &&
                sent.operation.value == got.operation.value && sent.responded < got.invoked)
                return false;
    return true;
}

// Several promises with their futures.
struct promises_object {
    static constexpr int unset = 0, broken = -1; // else the value
    enum kind { set, drop, look, wait, get };
    struct operation {
        kind what;
        unsigned which;
        int value = 0;   // set or got; broken
        bool ok = false; // set: nothing was there before; look: something is there
        friend std::ostream &operator<<(std::ostream &out, const operation &o) {
            static constexpr const char *names[] = {"set", "drop", "look", "wait", "get"};
            return out << names[o.what] << ' ' << o.which << ": " << o.value << (o.ok ? " yes" : " no");
        }
    };
    using state = std::array<int, 4>;

    bool may_end(const state &) const { return true; }
    bool apply(state &s, const operation &o) const {
        int &value = s[o.which];
        switch (o.what) {
        case set:
            if (o.ok != (value == unset))
                return false;
            if (o.ok)
                value = o.value;
            return true;
        case drop:
            if (value == unset)
                value = broken;
            return true;
        case look:
            return o.ok == (value != unset);
        case wait:
            return value != unset;
        case get:
            return value != unset && value == o.value;
        }
        return false;
    }
};

// The search -----------------------------------------------------------------------------------------------

using q = queue_object;
using channel_history = history<q::operation>;

TEST(linearization_test, keeps_the_order_of_the_queue) {
    const channel_history swapped = {{0, {q::send, 1, true}, 0, 1},
                                     {0, {q::send, 2, true}, 2, 3},
                                     {1, {q::receive, 2, true}, 4, 5},
                                     {1, {q::receive, 1, true}, 6, 7}};
    EXPECT_FALSE(linearizable(q{2}, swapped));
    channel_history overlapping = swapped;
    overlapping[0].responded = 3; // both sends at once
    overlapping[1].invoked = 1;
    EXPECT_TRUE(linearizable(q{2}, overlapping));
    EXPECT_FALSE(linearizable(q{1}, overlapping)) << "there was room for one";
}

TEST(linearization_test, loses_and_invents_nothing) {
    EXPECT_FALSE(linearizable(q{1}, {{0, {q::send, 1, true}, 0, 1}, {1, {q::try_receive, 0, false}, 2, 3}}));
    EXPECT_TRUE(linearizable(q{1}, {{0, {q::send, 1, true}, 0, 2}, {1, {q::try_receive, 0, false}, 1, 3}}));
    EXPECT_FALSE(linearizable(
        q{1},
        {{0, {q::send, 1, true}, 0, 1}, {1, {q::receive, 1, true}, 2, 4}, {2, {q::receive, 1, true}, 3, 5}}));
    EXPECT_FALSE(linearizable(q{1}, {{1, {q::receive, 1, true}, 0, 1}, {0, {q::send, 1, true}, 2, 3}}))
        << "received before it was sent";
    EXPECT_FALSE(linearizable(q{1}, {{0, {q::try_send, 1, false}, 0, 1}})) << "there is room";
}

TEST(linearization_test, nothing_is_sent_after_the_end) {
    EXPECT_FALSE(linearizable(q{1}, {{0, {q::close}, 0, 1}, {1, {q::send, 1, true}, 2, 3}}));
    EXPECT_FALSE(linearizable(q{1}, {{0, {q::receive, 0, false}, 0, 1}, {1, {q::close}, 2, 3}}))
        << "empty, but not closed yet";
    EXPECT_TRUE(linearizable(q{1}, {{0, {q::send, 1, true}, 0, 1},
                                    {1, {q::close}, 2, 3},
                                    {0, {q::receive, 1, true}, 4, 5},
                                    {0, {q::receive, 0, false}, 6, 7}}));
}

TEST(linearization_test, without_room_both_meet) {
    const channel_history apart = {{0, {q::send, 1, true}, 0, 1}, {1, {q::receive, 1, true}, 2, 3}};
    EXPECT_FALSE(partners_met(apart));
    const channel_history together = {{0, {q::send, 1, true}, 0, 2}, {1, {q::receive, 1, true}, 1, 3}};
    EXPECT_TRUE(linearizable(q{0}, together) && partners_met(together));
    channel_history early = together;
    early.push_back({2, {q::send, 2, true}, 0, 3});
    early.push_back({2, {q::receive, 2, true}, 4, 5});
    EXPECT_FALSE(linearizable(q{0}, early) && partners_met(early));
    EXPECT_FALSE(linearizable(q{0}, {{0, {q::try_send, 1, true}, 0, 1}})) << "it was not received";
}

TEST(linearization_test, a_promise_is_set_once) {
    using p = promises_object;
    EXPECT_FALSE(linearizable(p(), {{1, {p::get, 0, 7, true}, 0, 1}, {0, {p::set, 0, 7, true}, 2, 3}}));
    EXPECT_FALSE(linearizable(p(), {{0, {p::set, 0, 7, true}, 0, 1}, {1, {p::look, 0, 0, false}, 2, 3}}));
    EXPECT_FALSE(linearizable(p(), {{0, {p::set, 0, 7, true}, 0, 1}, {0, {p::set, 0, 8, true}, 2, 3}}));
    EXPECT_TRUE(linearizable(p(), {{0, {p::set, 0, 7, true}, 0, 3}, {1, {p::get, 0, 7, true}, 1, 2}}));
}

// All orders one by one, without the search's shortcuts.
bool explained_by_some_order(const q &object, const channel_history &all) {
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    do {
        q::state state;
        bool fits = true;
        for (std::size_t i = 0; fits && i < order.size(); ++i) {
            for (std::size_t j = i + 1; j < order.size(); ++j)
                fits = fits && all[order[j]].responded > all[order[i]].invoked;
            fits = fits && object.apply(state, all[order[i]].operation);
        }
        if (fits && object.may_end(state))
            return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
}

TEST(linearization_test, agrees_with_all_orders_tried) {
    auto random = fult::testing::seeded(20);
    std::size_t yes = 0, no = 0;
    for (std::size_t r = 0; r < fult::testing::scaled(20000); ++r) {
        channel_history all;
        std::vector<std::uint64_t> times{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        std::shuffle(times.begin(), times.end(), random);
        for (unsigned i = 0; i < 5; ++i) {
            const auto [from, to] = std::minmax(times[2 * i], times[2 * i + 1]);
            const auto what = static_cast<q::kind>(random() % 6);
            all.push_back({i, {what, int(random() % 2), random() % 3 != 0}, from, to});
        }
        const q object{random() % 3};
        const bool expected = explained_by_some_order(object, all);
        ASSERT_EQ(linearizable(object, all), expected) << "capacity " << object.capacity << '\n' << all;
        ++(expected ? yes : no);
    }
    if (fult::testing::scaled(20000) >= 1000) {
        EXPECT_GT(yes, 100u);
        EXPECT_GT(no, 100u);
    }
}

// The histories --------------------------------------------------------------------------------------------

constexpr unsigned actors = 4;

class linearizability_test : public fult::testing::sync_test {
  protected:
    using generator = std::minstd_rand;

    // Nothing, some instructions, or a scheduling point; seldom long enough for others to suspend.
    static void delay(generator &random) {
        switch (random() % 6) {
        case 0:
            yield_to_others();
            break;
        case 1:
        case 2:
            for (unsigned i = random() % 300; i != 0; --i)
                fult::detail::cpu_relax();
            break;
        case 3:
            for (unsigned i = random() % 6; i != 0; --i)
                yield_to_others();
            break;
        default:
            break;
        }
    }

    // So that even with fewer cores than threads and workers the others get on. The kernel is asked rarely:
    // beside busy processes, it returns only after a turn of each of them.
    static void let_others_run(unsigned round) {
        if (fult::in_task())
            fult::this_task::yield();
        if (round % 256 == 255)
            std::this_thread::yield();
        else
            fult::detail::cpu_relax();
    }

    // Runs body(actor, random) in all actors, and meanwhile(all_ended) here once they have begun.
    template <class Body, class Meanwhile>
    void run(std::uint64_t seed, const Body &body, const Meanwhile &meanwhile) {
        std::atomic<unsigned> there{0}, ended{0};
        const auto act = [&](unsigned i) {
            ++there;
            for (unsigned round = 0; there.load() != actors; ++round)
                let_others_run(round);
            generator random(static_cast<generator::result_type>(seed * actors + i + 1));
            body(i, random);
            ++ended;
        };
        std::vector<std::thread> threads;
        std::vector<fult::handle<void>> tasks;
        for (unsigned i = 0; i < GetParam().threads; ++i)
            threads.emplace_back([&act, number = GetParam().tasks + i] { act(number); });
        for (unsigned i = 0; i < GetParam().tasks; ++i)
            tasks.emplace_back(spawn([&act, i] { act(i); }));
        for (unsigned round = 0; there.load() != actors; ++round)
            let_others_run(round);
        meanwhile([&] { return ended.load() == actors; });
        join_all(tasks);
        for (std::thread &each : threads)
            each.join();
    }
};

INSTANTIATE_TEST_SUITE_P(crowds, linearizability_test,
                         ::testing::Values(crowd{1, 4, 0}, crowd{1, 2, 2}, crowd{2, 4, 0}, crowd{2, 2, 2},
                                           crowd{2, 0, 4}, crowd{8, 4, 0}, crowd{8, 3, 1}));

// Performs it, and records the result.
template <class Random> void perform(channel<int> &subject, q::operation &o, Random &random) {
    const auto short_time = std::chrono::microseconds(random() % 30); // time: either order is right
    const bool timed = random() % 3 == 0; // where nothing comes in time, it is as if it had only tried
    std::optional<int> got;
    switch (o.what) {
    case q::send:
        o.ok = subject.send(o.value);
        return;
    case q::try_send:
        o.ok = timed ? subject.try_send_for(int(o.value), short_time) : subject.try_send(o.value);
        return;
    case q::receive:
        got = subject.receive();
        break;
    case q::try_receive:
        got = timed ? subject.try_receive_for(short_time) : subject.try_receive();
        break;
    case q::close:
        subject.close();
        return;
    case q::is_closed:
        o.ok = subject.closed();
        return;
    }
    o.ok = got.has_value();
    o.value = got.value_or(0);
}

TEST_P(linearizability_test, channel) {
    const std::size_t rounds = fult::testing::scaled(1000);
    std::size_t overlapping = 0; // with the operation that began before
    for (std::size_t r = 0; r < rounds; ++r) {
        const q object{r % 3};
        channel<int> subject(object.capacity);
        recorder<q::operation> records(actors + 1, 8);
        const auto one = [&](unsigned actor, q::operation operation, auto &random) {
            records.record(actor, operation, [&](q::operation &o) { perform(subject, o, random); });
        };
        generator random(static_cast<generator::result_type>(r + 1));
        run(
            r,
            [&](unsigned i, generator &own) {
                static constexpr q::kind kinds[] = {
                    q::send,        q::send,        q::send,     q::receive,     q::receive,  q::receive,
                    q::try_receive, q::try_receive, q::try_send, q::try_receive, q::is_closed};
                for (int k = 0; k < 4; ++k) {
                    delay(own);
                    const q::kind what = own() % 24 == 0 ? q::close : kinds[own() % std::size(kinds)];
                    one(i, {what, int(i) * 10 + k + 1}, own);
                }
            },
            [&](const auto &all_ended) { // actors that still wait for a partner can continue in the end
                for (unsigned left = random() % 400; left != 0 && !all_ended(); --left)
                    let_others_run(left);
                one(actors, {q::close}, random);
            });
        do // the items that were not received are there
            one(actors, {q::receive}, random);
        while (records.collected().back().operation.ok);
        const auto all = records.collected();
        for (std::size_t i = 1; i < all.size(); ++i)
            overlapping += all[i].invoked < all[i - 1].responded;
        ASSERT_TRUE(linearizable(object, all) && (object.capacity != 0 || partners_met(all)))
            << "round " << r << ", capacity " << object.capacity << '\n'
            << all;
    }
    // With capacity 0 a send overlaps with its receive, or either with the close in the end.
    EXPECT_GT(overlapping, rounds / 10) << "the histories are sequential: they show nothing";
}

// Each actor sets its promise once, or drops it, and waits for its neighbour's.
TEST_P(linearizability_test, promises_and_futures) {
    using p = promises_object;
    const std::size_t rounds = fult::testing::scaled(500);
    for (std::size_t r = 0; r < rounds; ++r) {
        std::array<std::optional<fult::promise<int>>, actors> promises;
        std::array<fult::future<int>, actors> futures;
        for (unsigned i = 0; i < actors; ++i)
            futures[i] = promises[i].emplace().get_future();
        recorder<p::operation> records(actors, 8);
        run(
            r,
            [&](unsigned i, generator &random) {
                const unsigned other = (i + 1) % actors;
                const auto look = [&] {
                    records.record(i, {p::look, other}, [&](p::operation &o) {
                        o.ok = random() % 2
                                   ? futures[other].ready()
                                   // time: either order is right
                                   : futures[other].wait_for(std::chrono::microseconds(random() % 20)) ==
                                         fult::future_status::ready;
                    });
                };
                const auto set = [&](int value) {
                    records.record(i, {p::set, i, value}, [&](p::operation &o) {
                        try {
                            promises[i]->set_value(o.value);
                            o.ok = true;
                        } catch (const fult::future_error &) {
                        }
                    });
                };
                if (random() % 2)
                    look();
                delay(random);
                if (random() % 4) {
                    set(int(i) * 10 + 1);
                    if (random() % 4 == 0)
                        set(int(i) * 10 + 2);
                } else {
                    records.record(i, {p::drop, i}, [&](p::operation &) { promises[i].reset(); });
                }
                delay(random);
                if (random() % 2)
                    look();
                if (random() % 3 == 0)
                    records.record(i, {p::wait, other}, [&](p::operation &) { futures[other].wait(); });
                records.record(i, {p::get, other}, [&](p::operation &o) {
                    try {
                        o.value = futures[other].get();
                    } catch (const fult::future_error &) {
                        o.value = p::broken;
                    }
                });
            },
            [](const auto &) {});
        const auto all = records.collected();
        ASSERT_TRUE(linearizable(p(), all)) << "round " << r << '\n' << all;
    }
}

} // namespace
