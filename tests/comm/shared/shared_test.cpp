// The shared transport: its own guarantees; transport_test.cpp checks those of all transports.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "comm/shared/segment.hpp"
#include "comm/shared/shared.hpp"
#include "tests/comm/fabric/messages.hpp"
#include "tests/comm/fabric/ranks.hpp"
#include "tests/comm/shared/over_shared.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/scale.hpp"
#include "tests/support/unique.hpp"

namespace fabric_ranks {

namespace {

std::unique_ptr<transport> by_bits(const fabric_settings &common) {
    shared_settings settings = shared_of(common);
    settings.max_polled = 0;
    return open_shared(settings);
}
std::unique_ptr<transport> in_small_rings(const fabric_settings &common) {
    shared_settings settings = shared_of(common);
    settings.ring = 0; // four messages
    return open_shared(settings);
}

} // namespace

std::vector<way> ways() {
    if (fult::testing::sanitized)
        return {{"shared", "", reach::same_host, true, over_shared},
                {"small_rings", "", reach::same_host, true, in_small_rings}};
    return {{"shared", "", reach::same_host, true, over_shared},
            {"by_bits", "", reach::same_host, true, by_bits},
            {"small_rings", "", reach::same_host, true, in_small_rings}};
}

} // namespace fabric_ranks

namespace {

using namespace fabric_ranks;

// Ranks of this process, without processes of their own.
struct together {
    explicit together(int ranks, shared_settings settings = {}) {
        static int jobs = 0;
        base = "fult-test-" + fult::testing::unique_name() + "-" + std::to_string(++jobs) + "-";
        settings.ranks = ranks;
        std::vector<std::string> addresses;
        for (int rank = 0; rank < ranks; ++rank) {
            settings.rank = rank;
            settings.name = base + std::to_string(rank);
            nets.push_back(open_shared(settings));
            addresses.push_back(nets.back()->address());
        }
        for (auto &net : nets)
            net->connect(addresses);
    }
    transport &operator[](int rank) { return *nets[static_cast<std::size_t>(rank)]; }
    void post(int rank, unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            buffers.push_back(std::make_unique<buffer>(nets[0]->limits().message));
            nets[static_cast<std::size_t>(rank)]->post(buffers.back()->get());
        }
    }
    // The segment of a rank, all of it; unmapped at the end of the process.
    std::span<std::byte> segment(int rank) const {
        const int fd = shm_open(("/" + base + std::to_string(rank)).c_str(), O_RDWR, 0);
        const off_t size = lseek(fd, 0, SEEK_END);
        void *const at =
            mmap(nullptr, static_cast<std::size_t>(size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        require(fd >= 0 && at != MAP_FAILED, "the segment was not mapped");
        close(fd);
        return {static_cast<std::byte *>(at), static_cast<std::size_t>(size)};
    }

    std::string base;
    std::vector<std::unique_ptr<buffer>> buffers;
    std::vector<std::unique_ptr<transport>> nets;
};

// All events of a number of polls; packets are posted again, so their bytes are valid until the next poll.
std::vector<event> happens(transport &net, int polls) {
    std::vector<event> all;
    for (; polls != 0; --polls) {
        std::array<event, 16> events;
        const unsigned count = net.poll(events);
        for (unsigned i = 0; i < count; ++i) {
            all.push_back(events[i]);
            if (events[i].request->kind == request_kind::receive)
                net.post(static_cast<packet &>(*events[i].request));
        }
    }
    return all;
}

// A rank is killed at any time by a process that is not a rank.
void kill_at_random(const way &how, unsigned round) {
    constexpr int ranks = 3, victim = 1, killer = 3;
    constexpr std::size_t bytes = 1 << 20;
    const auto statuses = fork_ranks(ranks + 1, how, [&](board &shared, int rank) {
        enum { address = 0, started = 8, process = 9, dead = 10, done = 11 };
        auto &values = shared.values;
        if (rank == killer) {
            while (values[started].load() < ranks)
                sched_yield();
            usleep(std::mt19937(round)() % 8000); // time: either order is right
            kill(static_cast<pid_t>(values[process].load()), SIGKILL);
            // time: either order is right
            usleep(1000); // the others meet the silence
            values[dead] = 1;
            return;
        }
        std::mt19937 random(round * 10 + static_cast<unsigned>(rank));
        std::vector<unsigned char> room(bytes), mine(bytes);
        fult::testing::fill_bytes(static_cast<std::uint64_t>(rank), 0, room.data(), bytes);
        rank_process me(shared, rank, ranks, how, "fult-test-" + std::to_string(getppid()), 8192);
        me.post_receives(32);
        memory m{room.data(), bytes};
        require(me.net->register_memory(m, access_rights::read_and_write), "enroll");
        values[static_cast<std::size_t>(address + rank)] = static_cast<long>(m.address);
        if (rank == victim)
            values[process] = getpid();
        me.meet();
        values[started].fetch_add(1);

        receiver in(me);
        std::array<long, ranks> sent{};
        std::array<bool, ranks> open{};
        open.fill(true);
        open[static_cast<std::size_t>(rank)] = false;
        std::vector<std::byte> message(8192);
        transfer t;
        bool reading = false;
        long reads = 0;
        const auto take = [&] {
            me.poll();
            for (; !me.happened.empty(); me.happened.pop_front()) {
                const event e = me.happened.front();
                if (e.kind == event_kind::received) {
                    in.check(static_cast<packet &>(*e.request));
                    me.net->post(static_cast<packet &>(*e.request));
                    continue;
                }
                require(e.request == &t && reading, "an operation ended twice");
                require(e.kind == event_kind::transferred || t.rank == victim, "a transfer is lost");
                if (e.kind == event_kind::transferred)
                    require(
                        fult::testing::are_bytes(static_cast<std::uint64_t>(t.rank), 0, mine.data(), t.size),
                        "other bytes were read");
                reading = false;
                ++reads;
            }
        };
        const auto step = [&] {
            for (int to = 0; to < ranks; ++to) {
                if (!open[static_cast<std::size_t>(to)])
                    continue;
                long &number = sent[static_cast<std::size_t>(to)];
                const std::size_t size = sizeof(head) + random() % (random() % 8 == 0 ? 8000 : 100);
                fill(message.data(), size, rank, number);
                const outcome result = me.net->inject(to, message.data(), size);
                require(result != outcome::failed || to == victim, "a rank that lives is called unreachable");
                number += result == outcome::done ? 1 : 0;
            }
            const int from = static_cast<int>(random() % ranks);
            if (!reading && from != rank && open[static_cast<std::size_t>(from)]) {
                t = transfer{};
                t.local = mine.data();
                t.size = random() % 2 == 0 ? bytes : 4096;
                t.address =
                    static_cast<std::uint64_t>(values[static_cast<std::size_t>(address + from)].load());
                t.rank = from;
                const outcome result = me.net->read(t);
                require(result != outcome::failed || from == victim, "a rank that lives cannot be read");
                reading = result == outcome::done;
            }
            take();
        };
        while (values[dead].load() == 0)
            step();
        me.net->forget(victim);
        open[victim] = false;
        std::byte byte{};
        require(me.net->inject(victim, &byte, 1) == outcome::failed, "a forgotten rank is written to");
        const std::size_t other = static_cast<std::size_t>(2 - rank);
        const long goal = sent[other] + 200, reads_before = reads;
        while (sent[other] < goal || reads < reads_before + 2)
            step();
        open.fill(false);
        while (reading) {
            take();
            sched_yield();
        }
        values[static_cast<std::size_t>(12 + rank)] = sent[other];
        values[done].fetch_add(1);
        while (values[done].load() < 2 || in.next[other] < values[12 + other].load()) {
            take();
            sched_yield();
        }
    });
    for (int rank = 0; rank <= ranks; ++rank) {
        const int status = statuses[static_cast<std::size_t>(rank)];
        if (rank == victim)
            EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            EXPECT_EQ(status, 0) << "rank " << rank
                                 << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
    }
}

TEST(shared, survivors_of_a_kill_at_any_time_never_hang) {
    const char *const more = std::getenv("FULT_TEST_KILLS");
    const unsigned rounds = more                       ? static_cast<unsigned>(std::atoi(more))
                            : fult::testing::sanitized ? 10
                                                       : 40;
    const auto all = ways();
    for (unsigned round = 0; round < rounds && !HasFailure(); ++round)
        kill_at_random(all[round % all.size()], round);
}

TEST(shared, a_rank_that_writes_nonsense_gets_an_error_and_is_ignored) {
    together net(3);
    net.post(0, 4);
    net.post(2, 4);
    const int word = 7;
    ASSERT_EQ(net[1].inject(0, &word, sizeof word), outcome::done);
    ASSERT_EQ(net[2].inject(0, &word, sizeof word), outcome::done);
    EXPECT_EQ(happens(net[0], 3).size(), 2U);
    // what comes next in rank 1's ring, behind the message of two words
    segment_shape shape{2, 131072, 8192, 8};
    const auto memory = net.segment(0);
    ASSERT_EQ(memory.size(), shape.bytes());
    const ring_location ring = make_ring(memory.data() + shape.slot_offset(0), shape, 1, 0);
    const std::uint64_t nonsense = 0x123456789;
    std::memcpy(ring.data + 2 * ring_word, &nonsense, sizeof nonsense);
    const auto reported = happens(net[0], 5);
    ASSERT_EQ(reported.size(), 1U);
    EXPECT_EQ(reported[0].kind, event_kind::lost);
    EXPECT_EQ(reported[0].request->kind, request_kind::receive);
    EXPECT_EQ(static_cast<packet *>(reported[0].request)->rank, 1);
    EXPECT_EQ(net[0].inject(1, &word, sizeof word), outcome::failed);
    ASSERT_EQ(net[1].inject(0, &word, sizeof word), outcome::done);
    ASSERT_EQ(net[2].inject(0, &word, sizeof word), outcome::done);
    EXPECT_EQ(happens(net[0], 5).size(), 1U);
    EXPECT_EQ(net[0].inject(2, &word, sizeof word), outcome::done);
    EXPECT_EQ(happens(net[2], 5).size(), 1U);
}

TEST(shared, nonsense_about_room_makes_a_rank_unreachable) {
    together net(2);
    net.post(1, 4);
    std::vector<std::byte> bytes(8192);
    ASSERT_EQ(net[0].inject(1, bytes.data(), bytes.size()), outcome::done);
    segment_shape shape{1, 131072, 8192, 8};
    const ring_location ring = make_ring(net.segment(1).data() + shape.slot_offset(0), shape, 0, 1);
    ring.control->taken.store(1 << 30);
    outcome result;
    for (int i = 0; (result = net[0].inject(1, bytes.data(), bytes.size())) == outcome::done; ++i)
        ASSERT_LT(i, 100);
    EXPECT_EQ(result, outcome::failed);
}

TEST(shared, random_nonsense_anywhere_does_no_harm) {
    std::mt19937_64 random(3);
    for (const unsigned looks : {8U, 0U})
        for (int round = 0; round < 60; ++round) {
            shared_settings settings;
            settings.message = 256;
            settings.ring = 2048;
            settings.max_polled = looks;
            together net(3, settings);
            std::vector<std::span<std::byte>> segments;
            for (int rank = 0; rank < 3; ++rank) {
                net.post(rank, 8);
                segments.push_back(net.segment(rank));
                net[rank].unlink_names();
            }
            std::vector<std::byte> bytes(256);
            for (int step = 0; step < 200; ++step) {
                const int from = static_cast<int>(random() % 3), to = static_cast<int>(random() % 3);
                if (from != to)
                    net[from].inject(to, bytes.data(), random() % 257);
                const bool look = random() % 4 == 0;
                for (const event &e : happens(net[to], look ? 1 : 0))
                    ASSERT_LE(static_cast<packet *>(e.request)->size, 256U);
                // behind the head's shape, which is not read any more
                auto &segment = segments[random() % 3];
                const std::uint64_t word = random() % 2 == 0 ? random() : random() % 300;
                const bool in_a_ring = random() % 8 != 0;
                const std::size_t at = in_a_ring ? 4096 + random() % (segment.size() - 4096 - 8) / 8 * 8 : 64;
                if (step > 20)
                    std::memcpy(segment.data() + at, &word, sizeof word);
            }
            for (auto &segment : segments)
                munmap(segment.data(), segment.size());
        }
}

TEST(shared, ranks_in_threads_lose_nothing) {
    for (const unsigned looks : {8U, 0U})
        for (const std::size_t ring : {0U, 131072U}) {
            constexpr int ranks = 3;
            constexpr long count = 3000;
            shared_settings settings;
            settings.message = 512;
            settings.max_polled = looks;
            settings.ring = ring;
            together net(ranks, settings);
            for (int rank = 0; rank < ranks; ++rank)
                net.post(rank, 8);
            std::atomic<int> wrong{0}, done{0};
            std::vector<std::thread> threads;
            for (int rank = 0; rank < ranks; ++rank)
                threads.emplace_back([&, rank] {
                    std::array<long, ranks> sent{}, next{};
                    std::vector<std::byte> message(512);
                    bool finished = false;
                    while (wrong == 0 && done < ranks) {
                        for (int to = 0; to < ranks; ++to) {
                            long &number = sent[static_cast<std::size_t>(to)];
                            if (to == rank || number == count)
                                continue;
                            const std::size_t size =
                                sizeof(head) + static_cast<std::size_t>(number * 29) % 496;
                            fill(message.data(), size, rank, number);
                            const outcome result =
                                net[to == rank ? 0 : rank].inject(to, message.data(), size);
                            number += result == outcome::done ? 1 : 0;
                            wrong += result == outcome::failed ? 1 : 0;
                        }
                        std::array<event, 4> events;
                        const unsigned some = net[rank].poll(events);
                        for (unsigned i = 0; i < some; ++i) {
                            packet &p = static_cast<packet &>(*events[i].request);
                            head h;
                            std::memcpy(&h, p.data(), sizeof h);
                            wrong += h.number != next[static_cast<std::size_t>(h.from)]++ ? 1 : 0;
                            wrong += static_cast<std::uint32_t>(h.size) != p.size ? 1 : 0;
                            const auto seed = static_cast<std::uint64_t>(h.number + h.from);
                            wrong += p.size < sizeof h ||
                                             !fult::testing::are_bytes(seed, sizeof h, p.data() + sizeof h,
                                                                       p.size - sizeof h)
                                         ? 1
                                         : 0;
                            net[rank].post(p);
                        }
                        if (some == 0)
                            sched_yield();
                        if (!finished && next[static_cast<std::size_t>((rank + 1) % ranks)] == count &&
                            next[static_cast<std::size_t>((rank + 2) % ranks)] == count) {
                            finished = true;
                            ++done;
                        }
                    }
                });
            for (std::thread &each : threads)
                each.join();
            EXPECT_EQ(wrong, 0) << looks << " looks, rings of " << ring;
        }
}

// Bits of several words, and ranks that are no longer polled after a while.
TEST(shared, many_ranks_are_heard) {
    constexpr int ranks = 70;
    shared_settings settings;
    settings.message = 64;
    settings.ring = 512;
    together net(ranks, settings);
    for (int rank = 0; rank < ranks; ++rank)
        net.post(rank, 4);
    for (const int idle : {0, 300, 10})
        for (int from = 0; from < ranks; ++from)
            for (const int to : {0, 1, 63, 64, 69}) {
                if (from == to)
                    continue;
                ASSERT_EQ(net[from].inject(to, &from, sizeof from), outcome::done);
                const auto reported = happens(net[to], 2);
                ASSERT_EQ(reported.size(), 1U) << from << " to " << to;
                ASSERT_EQ(std::memcmp(static_cast<packet *>(reported[0].request)->data(), &from, sizeof from),
                          0);
                ASSERT_EQ(happens(net[to], idle).size(), 0U);
            }
}

// No rank is starved by another's flood.
TEST(shared, all_are_served_in_turn) {
    shared_settings settings;
    settings.message = 64;
    settings.ring = 65536;
    together net(3, settings);
    net.post(0, 8);
    long word = 1;
    while (net[1].inject(0, &word, sizeof word) == outcome::done)
        continue;
    word = 2;
    ASSERT_EQ(net[2].inject(0, &word, sizeof word), outcome::done);
    bool seen = false;
    for (int polls = 0; polls < 4; ++polls)
        for (const event &e : happens(net[0], 1)) {
            std::memcpy(&word, static_cast<packet *>(e.request)->data(), sizeof word);
            seen = seen || word == 2;
        }
    EXPECT_TRUE(seen);
}

TEST(shared, messages_go_on_beside_a_long_transfer) {
    together net(2);
    net.post(0, 4);
    std::vector<char> from(16 << 20, 'x'), to(from.size());
    memory m{from.data(), from.size()};
    ASSERT_TRUE(net[1].register_memory(m, access_rights::read_and_write));
    transfer t;
    t.local = to.data();
    t.size = to.size();
    t.address = m.address;
    t.key = m.key;
    t.rank = 1;
    ASSERT_EQ(net[0].read(t), outcome::done);
    EXPECT_FALSE(net[0].may_sleep());
    const int word = 1;
    ASSERT_EQ(net[1].inject(0, &word, sizeof word), outcome::done);
    const auto first = happens(net[0], 2);
    ASSERT_EQ(first.size(), 1U);
    EXPECT_EQ(first[0].kind, event_kind::received);
    std::vector<event> last;
    for (int i = 0; last.empty(); ++i) {
        ASSERT_LT(i, 1000);
        last = happens(net[0], 1);
    }
    EXPECT_EQ(last[0].request, &t);
    EXPECT_EQ(last[0].kind, event_kind::transferred);
    EXPECT_EQ(to, from);
    EXPECT_TRUE(net[0].may_sleep());
}

TEST(shared, a_transfer_of_memory_that_has_gone_is_lost) {
    together net(2);
    std::vector<char> room(1 << 20);
    void *const gone = mmap(nullptr, room.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(static_cast<char *>(gone) + room.size() / 2, room.size() / 2);
    for (const std::size_t size : {room.size(), room.size() / 4})
        for (const bool reads : {true, false}) {
            transfer t;
            t.local = room.data();
            t.size = size;
            t.address = reinterpret_cast<std::uint64_t>(gone) + room.size() / 2 - size / 2;
            t.rank = 1;
            ASSERT_EQ(reads ? net[0].read(t) : net[0].write(t), outcome::done);
            const auto reported = happens(net[0], 10);
            ASSERT_EQ(reported.size(), 1U);
            EXPECT_EQ(reported[0].request, &t);
            EXPECT_EQ(reported[0].kind, event_kind::lost);
        }
    munmap(gone, room.size() / 2);
}

TEST(shared, what_is_under_way_to_a_forgotten_rank_is_lost_and_the_rest_is_not) {
    together net(3);
    std::vector<char> room(1 << 20), other(1 << 20, 'y');
    std::array<transfer, 4> transfers;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        transfers[i].local = room.data();
        transfers[i].size = room.size();
        transfers[i].address = reinterpret_cast<std::uint64_t>(other.data());
        transfers[i].rank = static_cast<int>(1 + i % 2);
        ASSERT_EQ(net[0].read(transfers[i]), outcome::done);
    }
    net[0].forget(1);
    const auto reported = happens(net[0], 100);
    ASSERT_EQ(reported.size(), 4U);
    for (const event &e : reported)
        EXPECT_EQ(e.kind,
                  static_cast<transfer *>(e.request)->rank == 1 ? event_kind::lost : event_kind::transferred);
}

// However small the memory is, messages are delivered, and the ring has space for several.
TEST(shared, rings_fit_into_their_room) {
    const segment_shape wanted{63, 131072, 8192, 8};
    EXPECT_EQ(fit(wanted, wanted.bytes()), wanted);
    for (std::size_t room = 0; room < wanted.bytes(); room += 65521) {
        const segment_shape fitted = fit(wanted, room);
        EXPECT_LT(fitted.ring, wanted.ring);
        EXPECT_LE(fitted.max_message, wanted.max_message);
        EXPECT_GE(fitted.max_message, 256U) << "the least FULT_COMM_PACKET_SIZE";
        EXPECT_GE(fitted.ring, 4 * framed_size(fitted.max_message) + ring_word);
        EXPECT_TRUE(fitted.bytes() <= room || fitted.slot_bytes() == 4096) << room;
    }
    shared_settings settings;
    settings.room = 0;
    together net(70, settings);
    net.post(69, 8);
    std::vector<std::byte> bytes(net[0].limits().message);
    EXPECT_GT(bytes.size(), 900U);
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(net[0].inject(69, bytes.data(), bytes.size()), outcome::done);
    EXPECT_EQ(happens(net[69], 3).size(), 4U);
    EXPECT_EQ(net[0].inject(69, bytes.data(), bytes.size() + 1), outcome::failed);
}

// Nothing is left to be allocated when messages go.
TEST(shared, all_memory_is_there_at_the_start) {
    together net(4);
    struct stat envelope {};
    const int fd = shm_open(("/" + net.base + "2").c_str(), O_RDONLY, 0);
    ASSERT_EQ(fstat(fd, &envelope), 0);
    close(fd);
    EXPECT_GE(envelope.st_blocks * 512, envelope.st_size);
}

TEST(shared, without_copies_there_are_no_transfers) {
    shared_settings settings;
    settings.copies = false;
    together net(2, settings);
    EXPECT_FALSE(net[0].limits().one_sided);
    EXPECT_TRUE(together(2)[0].limits().one_sided) << "else this test shows nothing";
    transfer t;
    t.rank = 1;
    EXPECT_EQ(net[0].read(t), outcome::failed);
}

TEST(shared, mismatches_are_reported) {
    const auto complaint = [](const shared_settings &of_first,
                              const std::string &address_of_other) -> std::string {
        try {
            shared_settings settings = of_first;
            settings.name = "fult-test-" + fult::testing::unique_name() + "-odd";
            settings.ranks = 2;
            const auto net = open_shared(settings);
            const std::vector<std::string> addresses{net->address(), address_of_other};
            net->connect(addresses);
        } catch (const std::runtime_error &e) {
            return e.what();
        }
        return "";
    };
    shared_settings usual;
    usual.ranks = 2;
    usual.rank = 1;
    usual.name = "fult-test-" + fult::testing::unique_name() + "-even";
    const auto even = open_shared(usual);
    EXPECT_EQ(complaint({}, even->address()), "");
    shared_settings smaller;
    smaller.message = 4096;
    EXPECT_NE(complaint(smaller, even->address()).find("the same FULT_COMM_* settings"), std::string::npos);
    shared_settings larger;
    larger.ring = 262144;
    EXPECT_NE(complaint(larger, even->address()).find("the same FULT_COMM_* settings"), std::string::npos);
    for (const char *nonsense : {"6e6f7065", "shared.", "shared.1", "shared.1.2.zz.name", "x"})
        EXPECT_NE(complaint({}, nonsense).find("rank 1"), std::string::npos) << nonsense;
    EXPECT_NE(complaint({}, "shared.1.2.3.fult-test-no-such-name").find("/dev/shm"), std::string::npos);
    shared_settings nameless;
    nameless.name = std::string(300, 'n');
    EXPECT_THROW(open_shared(nameless), std::runtime_error);
}

} // namespace
