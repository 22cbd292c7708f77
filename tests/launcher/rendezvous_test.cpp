#include <gtest/gtest.h>
#include <map>

#include "launcher/rendezvous.hpp"

namespace fult::run {
namespace {

using comm::detail::run_kind;
using comm::detail::run_message;
using std::chrono::milliseconds;

const rendezvous::clock::time_point now{};
constexpr auto late = static_cast<std::uint32_t>(comm::detail::run_failure::late_rank);

// The answers by rank, read as a rank would read them.
std::map<int, run_message> answers(rendezvous &meeting) {
    std::map<int, run_message> result;
    for (const auto &[rank, bytes] : meeting.take_answers()) {
        comm::detail::run_stream stream(1 << 20);
        stream.feed(*bytes);
        EXPECT_TRUE(result.emplace(rank, stream.next().value()).second) << "two answers for rank " << rank;
    }
    return result;
}

TEST(rendezvous, answers_when_the_last_one_comes) {
    rendezvous meeting(3);
    for (int round = 0; round < 3; ++round) {
        meeting.arrive(2, {run_kind::exchange, 1000, "two"}, now);
        meeting.arrive(0, {run_kind::exchange, 1000, ""}, now);
        EXPECT_TRUE(answers(meeting).empty());
        meeting.arrive(1, {run_kind::exchange, 1000, std::string(1, '\0')}, now);
        const auto all = answers(meeting);
        ASSERT_EQ(all.size(), 3u);
        for (const auto &[rank, answer] : all) {
            EXPECT_EQ(answer.kind, run_kind::done);
            EXPECT_EQ(comm::detail::unpack_all(answer.body, 3),
                      (std::vector<std::string>{"", std::string(1, '\0'), "two"}));
        }
        EXPECT_FALSE(meeting.deadline().has_value());
    }
}

TEST(rendezvous, a_barrier_has_no_body) {
    rendezvous meeting(2);
    meeting.arrive(0, {run_kind::barrier, 1000, ""}, now);
    meeting.arrive(1, {run_kind::barrier, 1000, ""}, now);
    const auto all = answers(meeting);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all.at(1).kind, run_kind::done);
    EXPECT_EQ(all.at(1).body, "");
}

TEST(rendezvous, names_the_late_ones) {
    rendezvous meeting(4);
    meeting.arrive(1, {run_kind::barrier, 250, ""}, now);
    EXPECT_EQ(meeting.deadline(), now + milliseconds(250)); // time: a lower bound
    meeting.expire(now + milliseconds(249));                // time: a lower bound
    EXPECT_TRUE(answers(meeting).empty());
    meeting.expire(now + milliseconds(250)); // time: a lower bound
    const auto all = answers(meeting);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all.at(1).kind, run_kind::failed);
    EXPECT_NE(all.at(1).body.find("ranks 0, 2, 3 did not come to a barrier within 250 ms"), std::string::npos)
        << all.at(1).body;
    EXPECT_EQ(all.at(1).value, late);
    // they come late, and get the same error
    meeting.arrive(0, {run_kind::barrier, 250, ""}, now);
    const auto answered = answers(meeting).at(0);
    EXPECT_EQ(answered.kind, run_kind::failed);
    EXPECT_EQ(answered.value, late);
}

TEST(rendezvous, fails_for_waiting_and_later_callers_when_one_is_gone) {
    rendezvous meeting(3);
    meeting.arrive(0, {run_kind::exchange, 1000, "a"}, now);
    meeting.arrive(1, {run_kind::exchange, 1000, "b"}, now);
    meeting.gone(1, "has ended with status 0");
    const auto first = answers(meeting);
    ASSERT_EQ(first.count(0), 1u);
    EXPECT_EQ(first.at(0).kind, run_kind::failed);
    EXPECT_NE(first.at(0).value, late);
    EXPECT_NE(first.at(0).body.find("rank 1 has ended with status 0"), std::string::npos) << first.at(0).body;
    meeting.gone(0, "was ended by signal 9"); // the first reason stays
    meeting.arrive(2, {run_kind::exchange, 1000, "c"}, now);
    EXPECT_EQ(answers(meeting).at(2).body, first.at(0).body);
}

TEST(rendezvous, fails_when_calls_differ) {
    rendezvous meeting(2);
    meeting.arrive(0, {run_kind::barrier, 1000, ""}, now);
    meeting.arrive(1, {run_kind::exchange, 1000, "x"}, now);
    const auto all = answers(meeting);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all.at(0).kind, run_kind::failed);
    EXPECT_NE(all.at(1).body.find("rank 1 and another one"), std::string::npos) << all.at(1).body;
}

TEST(rendezvous, fails_when_a_rank_calls_twice) {
    rendezvous meeting(2);
    meeting.arrive(1, {run_kind::barrier, 1000, ""}, now);
    meeting.arrive(1, {run_kind::barrier, 1000, ""}, now);
    const auto answered = meeting.take_answers(); // one for each of its calls
    ASSERT_EQ(answered.size(), 2u);
    EXPECT_EQ(answered[0].rank, 1);
    EXPECT_NE(answered[0].bytes->find("rank 1 called twice"), std::string::npos);
}

} // namespace
} // namespace fult::run
