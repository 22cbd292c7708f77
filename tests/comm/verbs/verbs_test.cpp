// The verbs transport: with transport_test.cpp, and what only it has. Needs an adapter; tests/verbs-vm/run
// provides one.
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "comm/verbs/address.hpp"
#include "comm/verbs/connector.hpp"
#include "comm/verbs/ports.hpp"
#include "tests/comm/fabric/messages.hpp"
#include "tests/comm/fabric/ranks.hpp"
#include "tests/comm/verbs/over_verbs.hpp"

namespace fabric_ranks {

std::vector<way> ways() { return {{"verbs", "", reach::network, true, over_verbs}}; }

} // namespace fabric_ranks

namespace {

using namespace fabric_ranks;

const way by_verbs{"verbs", "", reach::network, true, over_verbs};

void run(int size, const std::function<void(rank_process &, board &)> &body) {
    for (const int status : fork_ranks(size, by_verbs, [&](board &shared, int rank) {
             body(*std::make_unique<rank_process>(shared, rank, size, by_verbs, job(), 8192), shared);
         }))
        EXPECT_EQ(status, 0);
}

class adapters : public testing::Test {
  protected:
    void SetUp() override {
        if (offer_verbs({}).network.empty())
            GTEST_SKIP() << "there is no active port of an adapter here";
    }
};

std::string error_of(const verbs_settings &settings) {
    try {
        open_verbs(settings);
    } catch (const std::runtime_error &e) {
        return e.what();
    }
    return "none";
}

TEST(verbs_settings_test, errors_name_what_there_is) {
    verbs_settings settings;
    settings.ports = "no_such_adapter:1";
    const std::string text = error_of(settings);
    for (const char *part : {"no_such_adapter:1", "FULT_COMM_INTERFACE", "here are: ", "FULT_COMM_NETWORK"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_EQ(offer_verbs(settings).network, "");
}

// Otherwise the ring could fill with requests whose end no completion reports.
TEST(verbs_link, the_completion_of_a_refused_request_comes_with_the_next) {
    fult::comm::detail::link one(0, nullptr, 0);
    bool signaled = false;
    for (int i = 0; i < 4; ++i)
        one.begin(nullptr, 4, signaled);
    EXPECT_TRUE(signaled);
    one.withdraw(1);
    const std::uint64_t id = one.begin(nullptr, 4, signaled);
    EXPECT_TRUE(signaled);
    work_request *what = nullptr;
    EXPECT_EQ(one.end(static_cast<std::uint32_t>(id >> 32), what), 4U);
    EXPECT_TRUE(one.has_room(fult::comm::detail::link::depth));
    one.begin(nullptr, 4, signaled);
    EXPECT_FALSE(signaled);
}

TEST(verbs_settings_test, retries_end_within_the_silence_of_a_dead_rank) {
    const auto of = [](int silence) {
        return ack_timeout(std::chrono::seconds(silence)); // time: given, never reached
    };
    EXPECT_EQ(of(1), 14); // no less than 67 ms
    EXPECT_EQ(of(4), 14);
    EXPECT_EQ(of(5), 15); // 8 * 134 ms, 4 times as long with some adapters
    EXPECT_EQ(of(30), 17);
    EXPECT_EQ(of(3600), 18); // no more than 1.07 s
}

TEST(verbs_errors, name_what_to_do) {
    EXPECT_NE(verbs_remedy(ENOMEM).find("ulimit -l"), std::string::npos);
    EXPECT_NE(verbs_remedy(EACCES).find("/dev/infiniband/uverbs"), std::string::npos);
    EXPECT_NE(verbs_remedy(EPERM).find("/dev/infiniband/uverbs"), std::string::npos);
    EXPECT_NE(verbs_remedy(EMFILE), "");
    EXPECT_EQ(verbs_remedy(EINVAL), "");
}

TEST_F(adapters, ports_are_chosen_by_device_port_interface_and_address) {
    const verbs_port usual = choose_port({});
    EXPECT_STREQ(usual.network(), "roce2"); // soft-RoCE with an IPv4 address
    const std::string device = usual.name.substr(0, usual.name.find(':'));
    verbs_settings settings;
    for (const std::string &each : {device, usual.name, "none," + device}) {
        settings.ports = each;
        settings.index = each.starts_with("none") ? 1 : 0;
        EXPECT_EQ(choose_port(settings).name, usual.name) << each;
    }
    settings.ports = device;
    settings.gid = 0; // link-local
    EXPECT_EQ(choose_port(settings).gid.gid_index, 0U);
    settings.gid = 200;
    EXPECT_NE(error_of(settings).find("GID 200 (FULT_COMM_GID)"), std::string::npos) << error_of(settings);
}

// The other rank reads from an address whose memory was replaced between two registrations.
TEST_F(adapters, registrations_follow_memory_that_is_mapped_again) {
    run(2, [](rank_process &me, board &shared) {
        constexpr std::size_t size = 1 << 20;
        constexpr int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
        void *at = mmap(nullptr, size, protection, flags, -1, 0);
        std::vector<unsigned char> in(size);
        memory local{in.data(), in.size()};
        require(me.net->register_memory(local, access_rights::read_and_write), "no registration");
        for (unsigned char round = 1; round < 20; ++round) {
            memory m{at, size};
            if (me.rank == 0) {
                std::memset(at, round, size);
                require(me.net->register_memory(m, access_rights::read), "no registration");
                shared.values[0] = static_cast<long>(m.address);
                shared.values[1] = static_cast<long>(m.key);
            }
            me.meet();
            if (me.rank == 1) {
                transfer t;
                t.local = in.data();
                t.size = size;
                t.descriptor = local.descriptor;
                t.address = static_cast<std::uint64_t>(shared.values[0].load());
                t.key = static_cast<std::uint64_t>(shared.values[1].load());
                t.rank = 0;
                me.insist([&] { return me.net->read(t); });
                while (me.happened.empty())
                    me.idle();
                require(me.happened.front().kind == event_kind::transferred, "a read is lost");
                me.happened.clear();
                require(in == std::vector<unsigned char>(size, round),
                        "bytes of an earlier owner of the address");
            }
            me.meet();
            if (me.rank != 0)
                continue;
            me.net->deregister_memory(m);
            switch (round % 3) { // each replaces the pages
            case 0:
                munmap(at, size);
                require(mmap(at, size, protection, flags | MAP_FIXED_NOREPLACE, -1, 0) == at,
                        "the same address");
                break;
            case 1:
                require(mmap(at, size, protection, flags | MAP_FIXED, -1, 0) == at, "the same address");
                break;
            default:
                madvise(at, size, MADV_DONTNEED);
            }
        }
        me.meet();
    });
}

TEST_F(adapters, memory_that_stays_is_registered_once) {
    run(1, [](rank_process &me, board &) {
        std::vector<char> bytes(1 << 20);
        const std::uint64_t before = counts_of(*me.net)->registrations;
        for (int i = 0; i < 10; ++i) {
            memory m{bytes.data(), bytes.size()}, narrower = m;
            require(me.net->register_memory(m, access_rights::read_and_write), "no registration");
            require(me.net->register_memory(narrower, access_rights::none), "no registration");
            require(m.key != narrower.key, "a registration has the rights of its own use only");
            me.net->deregister_memory(m);
            me.net->deregister_memory(narrower);
        }
        const std::uint64_t made = counts_of(*me.net)->registrations - before;
        require(made == 2, std::to_string(made) + " registrations");
    });
}

// Keys for reading do not permit writing, and bytes beside the region are not accessible.
TEST_F(adapters, keys_permit_no_more_than_their_use) {
    for (const bool beyond : {false, true})
        run(2, [beyond](rank_process &me, board &shared) {
            std::vector<unsigned char> bytes(8192, 7);
            memory m{bytes.data(), 4096};
            require(me.net->register_memory(m, beyond ? access_rights::write : access_rights::read),
                    "no registration");
            if (me.rank == 1) {
                shared.values[0] = static_cast<long>(m.address);
                shared.values[1] = static_cast<long>(m.key);
            }
            me.meet();
            if (me.rank == 0) {
                memory local{bytes.data(), bytes.size()};
                require(me.net->register_memory(local, access_rights::read_and_write), "no registration");
                transfer t;
                t.local = bytes.data();
                t.size = 100;
                t.descriptor = local.descriptor;
                t.address = static_cast<std::uint64_t>(shared.values[0].load()) + (beyond ? 4000U : 0U);
                t.key = static_cast<std::uint64_t>(shared.values[1].load());
                t.rank = 1;
                std::fill(bytes.begin(), bytes.end(), std::uint8_t{9});
                me.insist([&] { return me.net->write(t); });
                while (me.happened.empty())
                    me.idle();
                require(me.happened.front().kind == event_kind::lost, "the write was permitted");
                me.happened.clear();
            }
            me.meet();
            require(me.rank == 0 ||
                        std::all_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b == 7; }),
                    "bytes were written");
        });
}

// Packets that no queue pair takes are not acknowledged: their sender tries again, and then reports the loss.
// Nothing else would end its wait.
TEST_F(adapters, a_rank_that_does_not_acknowledge_has_failed_after_the_retries) {
    const way few_retries{"verbs", "", reach::network, true, [](const fabric_settings &common) {
                              verbs_settings settings = verbs_of(common);
                              settings.retries = 2;
                              return open_verbs(settings);
                          }};
    const auto body = [&](board &shared, int rank) {
        rank_process me(shared, rank, 2, few_retries, job(), 8192);
        me.post_receives(16);
        int word = 1;
        me.insist([&] { return me.net->inject(1 - rank, &word, sizeof word); });
        while (me.happened.empty())
            me.idle();
        me.happened.clear();
        me.meet();
        if (rank == 1)
            me.net.reset(); // its process lives
        me.meet_idle();
        if (rank == 0) {
            packet &p = me.make_packet();
            p.rank = 1;
            p.size = 8;
            me.insist([&] { return me.net->send(p); });
            while (me.happened.empty())
                me.idle();
            require(me.happened.front().kind == event_kind::lost && me.happened.front().request == &p,
                    "another end of the message");
            require(me.net->inject(1, &word, sizeof word) == outcome::failed, "the connection goes on");
            require(counts_of(*me.net)->broken == 1, "not counted");
        }
        me.meet_idle();
    };
    for (const int status : fork_ranks(2, few_retries, body))
        EXPECT_EQ(status, 0);
}

// Datagrams of a process that knows where a rank listens, but not its token.
TEST_F(adapters, strangers_cannot_connect) {
    run(2, [](rank_process &me, board &shared) {
        me.post_receives(16);
        if (me.rank == 0) {
            const auto there = parse_verbs_address(std::string(shared.addresses[1].data()));
            require(there.has_value(), "an address");
            verbs_settings settings = verbs_of({});
            settings.rank = 0;
            std::unique_ptr<transport> stranger = open_verbs(settings);
            verbs_address wrong = *there;
            wrong.token ^= 1;
            stranger->connect(std::vector<std::string>{"", to_text(wrong)});
            int word = 1;
            while (shared.values[0].load() == 0) {
                require(stranger->inject(1, &word, sizeof word) == outcome::again, "a stranger may send");
                std::array<event, 16> events;
                require(stranger->poll(events) == 0, "a stranger is answered");
                me.idle();
            }
        } else {
            while (counts_of(*me.net)->strange < 3)
                me.idle();
            require(counts_of(*me.net)->connections == 0, "a stranger has a connection");
            shared.values[0] = 1;
        }
        int word = 5; // ranks of the job are connected all the same
        me.insist([&] { return me.net->inject(1 - me.rank, &word, sizeof word); });
        while (me.happened.empty())
            me.idle();
        me.meet();
    });
}

} // namespace
