// endpoint_options::rank_ended: a rank that fails, and one that leaves.
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>

#include "tests/comm/conformance/ranks.hpp"

namespace {

using namespace fult;
using namespace fult::comm;
using namespace fult::comm::testing;

// One of four counts as lost, and one leaves: an endpoint with rank_ended is called once for each, behind
// their messages, and so is one that is made afterwards.
TEST(rank_ended, is_called_once_for_each_rank_behind_its_messages) {
    world_settings settings;
    settings.ranks = 4;
    const runtime running(as_many_workers_as_asked_for());
    std::atomic<int> through{0}, over{0};
    run_ranks(settings, [&](party &p, world &all) {
        std::mutex lock;
        std::string happened, again;
        const auto noted = [&](std::string &where) {
            return endpoint_options{.delivery = delivery::handler,
                                    .handler =
                                        [&](const status &envelope, std::span<const std::byte>) {
                                            const std::lock_guard guard(lock);
                                            where += "message of " + std::to_string(envelope.source) + "; ";
                                        },
                                    .rank_ended =
                                        [&](int rank, errc why) {
                                            const std::lock_guard guard(lock);
                                            where += std::to_string(rank) +
                                                     (why == errc::peer_failed ? " failed; " : " left; ");
                                        }};
        };
        const auto found = [&](const std::string &where) {
            const std::lock_guard guard(lock);
            return where;
        };
        endpoint active = p.make_endpoint(noted(happened));
        p.barrier();
        ++through;
        if (p.rank == 2) { // leaves
            active.send(1, 0, 1);
            return;
        }
        if (p.rank == 3) { // counts as lost, and sends a message then
            while (over != 2)
                this_task::yield();
            for (const int to : {0, 1}) // too late
                EXPECT_NO_THROW(active.send(1, to, 1));
            ++through;
            while (over != 4)
                this_task::yield();
            return;
        }
        while (through != 4)
            this_task::yield();
        const std::string left = p.rank == 0 ? "message of 2; 2 left; " : "2 left; ";
        while (found(happened) != left)
            this_task::yield();
        comm::detail::device &on = *all.jobs[static_cast<std::size_t>(p.rank)]->first_device;
        on.fail_peer(3);
        on.fail_peer(3);
        while (found(happened) != left + "3 failed; ")
            this_task::yield();
        endpoint later = p.make_endpoint(noted(again));
        while (found(again) != "2 left; 3 failed; ")
            this_task::yield();
        ++over;
        while (through != 5)
            this_task::yield();
        for (int i = 0; i < 200; ++i) {
            on.progress();
            this_task::yield();
        }
        EXPECT_EQ(found(happened), left + "3 failed; ");
        ++over;
        while (over != 4)
            this_task::yield();
    });
    EXPECT_EQ(over, 4);
}

TEST(rank_ended, is_for_handled_endpoints) {
    const runtime running(as_many_workers_as_asked_for());
    run_ranks({}, [](party &p, world &) {
        EXPECT_THROW(p.make_endpoint({.rank_ended = [](int, errc) {}}), std::invalid_argument);
        p.barrier();
    });
}

} // namespace
