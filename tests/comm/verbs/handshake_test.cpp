// Two ranks connect over datagrams that are lost, repeated and overtaken: every order of events is tried.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <tuple>
#include <vector>

#include "comm/verbs/handshake.hpp"

namespace {

using fult::comm::detail::greeting;
using fult::comm::detail::greeting_kind;
using fult::comm::detail::handshake;
using stage = handshake::stage;

// A rank, and the greetings that it has sent: each may arrive any number of times from then on.
struct greeter {
    handshake state;
    bool wants = false;
    bool has_asked = false, has_confirmed = false;

    void ask() { has_asked = true; }
    void greeting_received(greeting_kind what) {
        if (!state.is_connected())
            state.mark_connected();
        has_confirmed |= state.greeting_received(what);
    }
    auto key() const {
        return std::tuple(state.current(), state.is_connected(), wants, has_asked, has_confirmed);
    }
};

struct two_greeters {
    std::array<greeter, 2> ranks;
    handshake::clock::time_point now{};

    auto key() const { return std::tuple(ranks[0].key(), ranks[1].key()); }
};

enum class happens : unsigned { wants, asks_again, hears_ask, hears_confirm, receives, count };

// False if that cannot happen to the rank now.
bool happen(two_greeters &both, unsigned rank, happens what) {
    greeter &one = both.ranks[rank], &other = both.ranks[1 - rank];
    switch (what) {
    case happens::wants:
        if (one.wants)
            return false;
        one.wants = true;
        if (one.state.request_connection(both.now))
            one.ask();
        return true;
    case happens::asks_again:
        both.now += handshake::max_patience;
        if (!one.state.needs_greeting(both.now))
            return false;
        one.ask();
        return true;
    case happens::hears_ask:
        if (!other.has_asked)
            return false;
        one.greeting_received(greeting_kind::ask);
        return true;
    case happens::hears_confirm:
        if (!other.has_confirmed)
            return false;
        one.greeting_received(greeting_kind::confirm);
        return true;
    case happens::receives:
        if (!other.state.is_ready())
            return false;
        one.state.message_received();
        return true;
    case happens::count:
        break;
    }
    return false;
}

template <class F> void for_each_event(F f) {
    for (unsigned rank = 0; rank < 2; ++rank)
        for (unsigned what = 0; what < static_cast<unsigned>(happens::count); ++what)
            f(rank, static_cast<happens>(what));
}

// From now on datagrams arrive: a rank with something to send can do so soon, whatever has been lost.
void expect_success(two_greeters both) {
    for (int round = 0; round < 2; ++round)
        for (const unsigned rank : {0U, 1U}) {
            greeter &one = both.ranks[rank], &other = both.ranks[1 - rank];
            both.now += handshake::max_patience;
            if (!one.state.needs_greeting(both.now))
                continue;
            other.greeting_received(greeting_kind::ask);
            ASSERT_TRUE(other.has_confirmed);
            one.greeting_received(greeting_kind::confirm);
        }
    for (const greeter &each : both.ranks)
        EXPECT_TRUE(!each.wants || each.state.is_ready());
}

TEST(handshakes, a_ready_rank_sends_to_one_that_can_receive_whatever_the_network_does) {
    std::vector<two_greeters> reached(1);
    std::set<decltype(two_greeters().key())> known{reached.front().key()};
    std::set<std::tuple<stage, stage>> pairs;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const two_greeters at = reached[i];
        pairs.emplace(at.ranks[0].state.current(), at.ranks[1].state.current());
        for (const unsigned rank : {0U, 1U}) {
            ASSERT_TRUE(!at.ranks[rank].state.is_ready() || at.ranks[1 - rank].state.is_connected());
            ASSERT_TRUE(at.ranks[rank].wants || !at.ranks[rank].has_asked);
        }
        expect_success(at);
        for_each_event([&](unsigned rank, happens what) {
            two_greeters next = at;
            if (happen(next, rank, what) && known.insert(next.key()).second)
                reached.push_back(next);
        });
    }
    EXPECT_TRUE(pairs.contains({stage::ready, stage::ready}));
    EXPECT_TRUE(pairs.contains({stage::ready, stage::half}));
    EXPECT_TRUE(pairs.contains({stage::asking, stage::asking}));
    EXPECT_FALSE(pairs.contains({stage::ready, stage::asking})); // that one could not receive
    EXPECT_FALSE(pairs.contains({stage::ready, stage::fresh}));
}

TEST(handshakes, greetings_are_repeated_less_and_less_often) {
    handshake one;
    handshake::clock::time_point now{};
    ASSERT_TRUE(one.request_connection(now));
    EXPECT_FALSE(one.request_connection(now)); // only once
    for (auto patience = handshake::first_patience;;
         patience = std::min(2 * patience, handshake::max_patience)) {
        EXPECT_FALSE(one.needs_greeting(now + patience - handshake::clock::duration(1)));
        now += patience;
        ASSERT_TRUE(one.needs_greeting(now));
        EXPECT_FALSE(one.needs_greeting(now));
        if (patience == handshake::max_patience)
            break;
    }
}

TEST(handshakes, a_rank_that_only_answers_does_not_ask) {
    handshake one;
    one.mark_connected();
    EXPECT_TRUE(one.greeting_received(greeting_kind::ask));
    EXPECT_EQ(one.current(), stage::half);
    EXPECT_FALSE(one.needs_greeting(handshake::clock::time_point() + handshake::max_patience));
    one.message_received();
    EXPECT_TRUE(one.is_ready());
    EXPECT_TRUE(one.greeting_received(greeting_kind::ask)); // its first answer was lost
    EXPECT_TRUE(one.is_ready());
    EXPECT_FALSE(one.request_connection({})); // it may send at once
}

TEST(handshakes, a_failure_is_for_good_and_reported_once) {
    for (const bool connects : {false, true}) {
        handshake one;
        ASSERT_TRUE(one.request_connection({}));
        if (connects)
            one.mark_connected();
        EXPECT_TRUE(one.fail());
        EXPECT_FALSE(one.fail());
        EXPECT_TRUE(one.has_failed());
        EXPECT_FALSE(one.request_connection({}));
        EXPECT_FALSE(one.needs_greeting(handshake::clock::time_point() + handshake::max_patience));
        EXPECT_FALSE(one.is_ready());
    }
}

} // namespace
