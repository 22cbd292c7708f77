// The rounds by which ranks detect that all of them wait, without messages: the test sets the state
// of each rank.
#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/deadlock/rounds.hpp"

namespace {

using namespace fult::comm::detail;
using clock = deadlock_rounds::clock;

struct world;

struct one_rank final : rank_environment {
    world &all;
    const int rank;
    rank_state now;
    bool fails = false, leaves = false;
    int reports = 0, reported_waiting = 0, ends = 0;
    std::unique_ptr<deadlock_rounds> rounds;

    one_rank(world &w, int r) : all(w), rank(r) {}
    rank_state read_state() noexcept override { return now; }
    void send(int to, const probe_body &body) noexcept override;
    bool has_failed(int r) const noexcept override;
    bool has_left(int r) const noexcept override;
    void report(int waiting) noexcept override {
        ++reports;
        reported_waiting = waiting;
    }
    void end() noexcept override { ++ends; }
};

struct letter {
    int from, to;
    probe_body body;
};

struct world {
    std::vector<std::unique_ptr<one_rank>> ranks;
    std::deque<letter> letters;
    std::map<probe, int> sent;

    // time: given, never reached
    explicit world(int size, clock::duration pause = std::chrono::hours(1)) {
        for (int r = 0; r < size; ++r) {
            ranks.push_back(std::make_unique<one_rank>(*this, r));
            ranks.back()->rounds = std::make_unique<deadlock_rounds>(*ranks.back(), r, size, pause);
            ranks.back()->now.is_idle = true;
        }
    }
    one_rank &operator[](int r) { return *ranks[static_cast<std::size_t>(r)]; }
    bool deliver() {
        if (letters.empty())
            return false;
        const letter l = letters.front();
        letters.pop_front();
        if (!(*this)[l.to].fails)
            (*this)[l.to].rounds->handle_probe(l.from, l.body);
        return true;
    }
    void deliver_all() {
        while (deliver()) {
        }
    }
    int reports() const {
        int count = 0;
        for (const auto &each : ranks)
            count += each->reports;
        return count;
    }
    int asked() { return sent[probe::ask]; }
};

void one_rank::send(int to, const probe_body &body) noexcept {
    ++all.sent[static_cast<probe>(body.kind)];
    all.letters.push_back({rank, to, body});
}
bool one_rank::has_failed(int r) const noexcept { return all[r].fails; }
bool one_rank::has_left(int r) const noexcept { return all[r].leaves || all[r].fails; }

TEST(rounds, report_where_all_wait) {
    world all(3);
    all[0].now.sent = all[2].now.received = 5;
    all[0].rounds->handle_idle();
    all.deliver_all();
    for (int r = 0; r < 3; ++r) {
        EXPECT_EQ(all[r].reports, 1);
        EXPECT_EQ(all[r].reported_waiting, 3);
        EXPECT_EQ(all[r].ends, 1);
    }
    EXPECT_EQ(all.asked(), 4);
    all[0].rounds->handle_idle();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 3) << "once";
}

TEST(rounds, are_begun_by_the_first_rank_alone) {
    world all(3);
    all[1].rounds->handle_idle();
    all[2].rounds->handle_idle();
    EXPECT_TRUE(all.letters.empty());
    all[0].leaves = true;
    all[0].now.has_left = true;
    all[2].rounds->handle_idle();
    EXPECT_TRUE(all.letters.empty());
    all[1].rounds->handle_idle();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 2);
    EXPECT_EQ(all[0].reports, 0) << "it waits for no rank";
    EXPECT_EQ(all[1].reported_waiting, 2);
}

TEST(rounds, no_query_while_one_is_known_to_be_busy) {
    world all(3);
    all[2].now.is_idle = false;
    all[0].rounds->handle_idle();
    all.deliver_all();
    EXPECT_EQ(all.asked(), 2);
    for (int i = 0; i < 5; ++i)
        all[0].rounds->handle_idle();
    EXPECT_TRUE(all.letters.empty());
    all[2].rounds->handle_idle(); // not yet
    EXPECT_TRUE(all.letters.empty());
    EXPECT_NE(all[2].rounds->next(), clock::time_point::max()) << "it looks again by itself";
    all[2].now.is_idle = true;
    all[2].rounds->handle_timeout();
    all.deliver_all();
    EXPECT_EQ(all.sent[probe::idle_now], 1);
    EXPECT_EQ(all.reports(), 3);
}

TEST(rounds, do_not_report_while_messages_are_under_way) {
    world all(2);
    all[0].now.sent = 1;
    all[0].rounds->handle_idle();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 0);
    EXPECT_EQ(all.asked(), 1);
    EXPECT_NE(all[0].rounds->next(), clock::time_point::max());
    all[1].now.received = 1; // it woke no task
    all[0].rounds->handle_timeout();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 2);
}

// As seen in a real relay: a first wave in which the sums are equal by accident.
TEST(rounds, do_not_report_what_one_wave_has_found) {
    for (int change = 0; change < 4; ++change) {
        world all(2);
        all[0].now.sent = all[1].now.received = 7;
        all[0].rounds->handle_idle();
        all.deliver(); // the question
        all.deliver(); // the answer: the second wave begins
        ASSERT_EQ(all.asked(), 2);
        if (change == 0)
            all[1].now.is_idle = false;
        else if (change == 1)
            all[1].now.sent = 1;
        else if (change == 2) { // and it all comes out even
            all[1].now.sent = 1;
            all[1].now.received = 8;
        } else
            all[1].now.failed = 99;
        all.deliver_all();
        EXPECT_EQ(all.reports(), 0) << change;
    }
}

TEST(rounds, do_not_report_the_end_of_a_job) {
    world all(2);
    all[0].rounds->handle_idle();
    for (int r = 0; r < 2; ++r)
        all[r].leaves = all[r].now.has_left = true;
    all.deliver_all();
    EXPECT_EQ(all.reports(), 0);
}

TEST(rounds, go_on_without_ranks_that_fail) {
    world all(4);
    all[3].fails = true; // and no rank knows it in time
    all[0].rounds->handle_idle();
    all[3].fails = false;
    all[1].now.failed = 3;
    all[2].now.failed = 3;
    all.deliver_all();
    EXPECT_EQ(all.reports(), 0) << "others count other messages";
    all[3].fails = true;
    all[0].now.failed = 3;
    all[0].rounds->handle_departures();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 3);
    EXPECT_EQ(all[0].reported_waiting, 3);
}

TEST(rounds, go_on_where_a_rank_fails_before_it_answers) {
    world all(3);
    all[0].rounds->handle_idle();
    all[1].fails = true;
    all[0].now.failed = all[2].now.failed = 1;
    all[0].rounds->handle_departures();
    all.deliver_all();
    all[0].rounds->handle_timeout();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 2);
}

TEST(rounds, end_where_a_rank_fails_before_it_reports) {
    world all(3);
    all[0].rounds->handle_idle();
    while (all.sent[probe::report] == 0)
        ASSERT_TRUE(all.deliver());
    all[1].fails = true;
    all.deliver_all();
    EXPECT_EQ(all[2].reports, 0);
    all[0].rounds->handle_departures();
    all.deliver_all();
    EXPECT_EQ(all[2].reports, 1);
    EXPECT_EQ(all[2].ends, 1);
}

TEST(rounds, end_where_the_asker_fails_after_the_report) {
    world all(2);
    all[0].rounds->handle_idle();
    while (all[1].reports == 0)
        ASSERT_TRUE(all.deliver());
    all[0].fails = true;
    all.deliver_all();
    EXPECT_EQ(all[1].ends, 0);
    EXPECT_NE(all[1].rounds->next(), clock::time_point::max());
    all[1].rounds->handle_timeout();
    EXPECT_EQ(all[1].ends, 1);
}

// A question to a rank that has failed since is still open when the next wave begins.
TEST(rounds, a_failed_rank_is_asked_no_more) {
    world all(4);
    all[1].now.is_idle = false;
    all[0].rounds->handle_idle();
    all.deliver();                                                   // the question to rank 1
    all.letters.erase(all.letters.begin(), all.letters.begin() + 2); // the others get theirs too late
    all.deliver();                                                   // rank 1 is busy: the wave ends
    all[2].fails = true;
    all[0].now.failed = all[1].now.failed = all[3].now.failed = 2;
    all[1].now.is_idle = true;
    const int before = all.asked();
    all[0].rounds->handle_probe(1, make_probe(probe::idle_now)); // before it hears of the failure
    EXPECT_EQ(all.asked(), before + 2);
    all[0].now.is_idle = false;
    all[0].rounds->handle_departures();
    all.deliver_all(); // each answer is one of those that are open
    EXPECT_EQ(all.reports(), 0);
    all[0].now.is_idle = true;
    all[0].rounds->handle_idle();
    all.deliver_all();
    EXPECT_EQ(all.reports(), 3);
    EXPECT_EQ(all[0].reported_waiting, 3);
}

// A rank that was asked fails, or one that asked is to hear of the end of a wait: the time limit stays.
TEST(rounds, what_was_asked_before_does_not_end_the_reports) {
    for (const bool fails : {true, false}) {
        world all(4);
        all[0].leaves = all[0].now.has_left = true;
        all[1].rounds->handle_idle(); // asks; no rank answers
        all.letters.clear();
        all[1].now.is_idle = false;
        all[1].rounds->handle_probe(2, {static_cast<std::uint64_t>(probe::ask), 1, 0, 0, 0, 0}); // it is busy
        all[1].rounds->handle_probe(0, {static_cast<std::uint64_t>(probe::report), 0, 0, 0, 0, 4});
        EXPECT_EQ(all[1].reports, 1);
        const auto limit = all[1].rounds->next();
        ASSERT_NE(limit, clock::time_point::max());
        if (fails) {
            all[3].fails = true;
            all[1].rounds->handle_departures();
        } else {
            all[1].rounds->handle_idle();
        }
        EXPECT_EQ(all[1].rounds->next(), limit);
        all[1].rounds->handle_timeout();
        EXPECT_EQ(all[1].ends, 1) << "the asker is silent";
    }
}

TEST(rounds, ignore_what_makes_no_sense) {
    world all(2);
    for (std::uint64_t what = 0; what < probe_kinds + 2; ++what)
        if (what != static_cast<std::uint64_t>(probe::report))
            for (std::uint64_t wave = 0; wave < 3; ++wave)
                all[0].rounds->handle_probe(1, {what, wave, 1, 1, 1, 1});
    EXPECT_EQ(all.reports(), 0);
}

} // namespace
