// The requirements on transports between processes of this host. ways(), in the file that this one is linked
// with, returns the transports to test.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <poll.h>
#include <string>

#include "tests/comm/fabric/messages.hpp"
#include "tests/comm/fabric/ranks.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/unique.hpp"

namespace {

using namespace fabric_ranks;

class transports : public testing::TestWithParam<way> {
  protected:
    void SetUp() override {
        static std::map<std::string, bool> available; // asked once: a provider may take long to begin
        const auto [known, is_new] = available.try_emplace(GetParam().label, true);
        if (is_new)
            known->second = is_available();
        if (!known->second)
            GTEST_SKIP() << "there is no " << GetParam().label << " here";
    }

    static bool is_available() {
        const auto statuses = fork_ranks(1, GetParam(), [](board &, int) {
            try {
                fabric_settings settings;
                settings.scope = GetParam().scope;
                settings.provider = GetParam().provider;
                settings.interface = GetParam().scope == reach::network ? "127.0.0.1" : "";
                settings.name = job();
                GetParam().open(settings);
            } catch (const std::runtime_error &e) {
                std::printf("%s\n", e.what());
                std::fflush(stdout);
                _exit(absent);
            }
        });
        const bool is_absent = WIFEXITED(statuses[0]) && WEXITSTATUS(statuses[0]) == absent;
        EXPECT_TRUE(is_absent || statuses[0] == 0) << statuses[0];
        return !is_absent;
    }

    static void run(int size, const std::function<void(board &, int)> &body) {
        for (const int status : fork_ranks(size, GetParam(), body))
            EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
    }
    static void run(int size, std::size_t packet_bytes,
                    const std::function<void(rank_process &, board &)> &body) {
        run(size, [&](board &shared, int rank) {
            rank_process me(shared, rank, size, GetParam(), job(), packet_bytes);
            body(me, shared);
        });
    }
};

void exchange(rank_process &me, long messages) {
    receiver in(me);
    const transport_limits limits = me.net->limits();
    me.post_receives(64);
    for (int i = 0; i < 8; ++i)
        in.idle.push_back(&me.make_packet());
    std::vector<std::byte> small(limits.inject);
    me.meet();
    for (long number = 0; number < messages; ++number)
        for (int to = 0; to < me.size; ++to) {
            if (to == me.rank)
                continue;
            // every size that matters: next to the limits, and in between
            const std::size_t most = limits.message;
            const std::size_t sizes[] = {sizeof(head), 64,   limits.inject, limits.inject + 1, 3000,
                                         4096,         4097, most / 2,      most - 1,          most};
            const std::size_t size =
                std::clamp(sizes[static_cast<std::size_t>(number) % std::size(sizes)], sizeof(head), most);
            if (size <= limits.inject && number % 3 != 0) {
                fill(small.data(), size, me.rank, number);
                outcome result;
                while ((result = me.net->inject(to, small.data(), size)) == outcome::again)
                    in.take();
                require(result == outcome::done, "inject failed");
                std::fill(small.begin(), small.end(), std::byte{0}); // it is ours again
            } else {
                while (in.idle.empty())
                    in.take();
                packet &p = *in.idle.back();
                in.idle.pop_back();
                p.size = static_cast<std::uint32_t>(size);
                p.rank = to;
                fill(p.data(), size, me.rank, number);
                outcome result;
                while ((result = me.net->send(p)) == outcome::again)
                    in.take();
                require(result == outcome::done, "send failed");
            }
        }
    while (in.received < messages * (me.size - 1) || in.idle.size() < 8)
        in.take();
    me.meet();
}

TEST_P(transports, messages_of_all_sizes_arrive_in_order_of_two) {
    run(2, 65536, [](rank_process &me, board &) { exchange(me, 300); });
}
TEST_P(transports, messages_of_all_sizes_arrive_in_order_of_four) {
    run(4, 16384, [](rank_process &me, board &) { exchange(me, 100); });
}

// No rank receives until the senders must wait, or have sent more than any buffer between holds.
TEST_P(transports, what_was_taken_over_is_not_lost_when_flooded) {
    run(4, 2048, [](rank_process &me, board &shared) {
        const transport_limits limits = me.net->limits();
        const std::size_t size = std::min<std::size_t>(limits.inject, 64);
        receiver in(me);
        if (me.rank == 0) {
            me.post_receives(16);
            // lets the connections come about
            while (shared.values[0].load() < me.size - 1)
                in.take();
            while (shared.values[1].load() < me.size - 1)
                sched_yield();
            long sent = 0;
            while (shared.values[2].load() < me.size - 1)
                in.take();
            for (int i = 1; i < me.size; ++i)
                sent += shared.values[static_cast<std::size_t>(3 + i)].load();
            while (in.received < sent)
                in.take();
            require(sent > 3 * 100, "no flood");
        } else {
            std::vector<std::byte> small(size);
            long number = 0;
            const auto one = [&] {
                fill(small.data(), size, me.rank, number);
                const outcome result = me.net->inject(0, small.data(), size);
                require(result != outcome::failed, "inject failed");
                number += result == outcome::done ? 1 : 0;
                return result;
            };
            while (one() != outcome::done)
                me.poll();
            shared.values[0].fetch_add(1);
            for (int refusals = 0; refusals < 100 && number < 20000;)
                if (one() == outcome::again) {
                    ++refusals;
                    me.poll();
                }
            shared.values[static_cast<std::size_t>(3 + me.rank)] = number;
            shared.values[1].fetch_add(1);
            shared.values[2].fetch_add(1);
        }
        me.meet();
    });
}

transfer make_transfer(board &shared, int rank, std::vector<unsigned char> &local, const memory &m,
                       std::size_t size, std::size_t offset) {
    transfer t;
    t.local = local.data() + offset;
    t.size = size;
    t.descriptor = m.descriptor;
    t.address = static_cast<std::uint64_t>(shared.values[static_cast<std::size_t>(2 * rank)].load()) + offset;
    t.key = static_cast<std::uint64_t>(shared.values[static_cast<std::size_t>(2 * rank + 1)].load());
    t.rank = rank;
    return t;
}

void await(rank_process &me, const transfer &t) {
    for (;; me.idle())
        for (auto e = me.happened.begin(); e != me.happened.end(); ++e)
            if (e->request == &t) {
                require(e->kind == event_kind::transferred, "a transfer is lost");
                me.happened.erase(e);
                return;
            }
}

memory share(rank_process &me, board &shared, std::vector<unsigned char> &bytes) {
    memory m{bytes.data(), bytes.size()};
    require(me.net->register_memory(m, access_rights::read_and_write), "memory was not enrolled");
    shared.values[static_cast<std::size_t>(2 * me.rank)] = static_cast<long>(m.address);
    shared.values[static_cast<std::size_t>(2 * me.rank + 1)] = static_cast<long>(m.key);
    return m;
}

constexpr std::size_t sizes[] = {1,     7,     64,    128,   129,    4095,    4096,    4097,    8192,
                                 10000, 32768, 65536, 65537, 200000, 1048576, 1048577, 16777216};

constexpr std::size_t margin = 64; // on both sides, untouched

void inspect(const std::vector<unsigned char> &bytes, std::size_t size, std::size_t seed, const char *what) {
    const auto is_untouched = [&](std::size_t from) {
        return fult::testing::all_are(std::byte{0xee}, bytes.data() + from, margin);
    };
    require(bytes.size() == size + 2 * margin && is_untouched(0) && is_untouched(margin + size) &&
                fult::testing::are_bytes(seed, margin, bytes.data() + margin, size),
            (std::string("a ") + what + " of " + std::to_string(size) + " bytes left a wrong one").c_str());
}

TEST_P(transports, reads_bring_what_is_there) {
    run(2, 4096, [](rank_process &me, board &shared) {
        for (const std::size_t size : sizes) {
            std::vector<unsigned char> theirs(size + 2 * margin), mine(size + 2 * margin, 0xee);
            fult::testing::fill_bytes(size + static_cast<std::size_t>(me.rank), 0, theirs.data(),
                                      theirs.size());
            memory shown = share(me, shared, theirs);
            memory local{mine.data(), mine.size()};
            require(me.net->register_memory(local, access_rights::read_and_write), "enroll");
            me.meet();
            transfer t = make_transfer(shared, 1 - me.rank, mine, local, size, margin);
            me.insist([&] { return me.net->read(t); });
            await(me, t);
            require(me.net->has_advanced(1 - me.rank) == (GetParam().scope == reach::network) &&
                        !me.net->has_advanced(1 - me.rank),
                    "bytes over a network are a sign of life, once");
            inspect(mine, size, size + static_cast<std::size_t>(1 - me.rank), "read");
            me.meet();
            me.net->deregister_memory(shown);
            me.net->deregister_memory(local);
        }
    });
}

// The writer waits for the end of the write, then notifies the last rank, which notifies the target.
void write_then_notify(rank_process &me, board &shared, std::size_t size) {
    std::vector<unsigned char> room(size + 2 * margin, 0xee);
    memory m = share(me, shared, room);
    int word = 0;
    const auto hear = [&] {
        for (;; me.idle())
            for (auto e = me.happened.begin(); e != me.happened.end(); ++e)
                if (e->kind == event_kind::received) {
                    me.net->post(static_cast<packet &>(*e->request));
                    me.happened.erase(e);
                    return;
                }
    };
    me.meet();
    if (me.rank == 0) {
        std::vector<unsigned char> data(room.size());
        fult::testing::fill_bytes(size, 0, data.data(), data.size());
        memory local{data.data(), data.size()};
        require(me.net->register_memory(local, access_rights::read_and_write), "enroll");
        transfer t = make_transfer(shared, 1, data, local, size, margin);
        me.insist([&] { return me.net->write(t); });
        await(me, t);
        me.insist([&] { return me.net->inject(me.size - 1, &word, sizeof word); });
        me.meet();
        me.net->deregister_memory(local);
    } else {
        hear();
        if (me.rank == me.size - 1 && me.rank != 1)
            me.insist([&] { return me.net->inject(1, &word, sizeof word); });
        if (me.rank == 1)
            inspect(room, size, size, "write");
        me.meet();
    }
    me.net->deregister_memory(m);
}

TEST_P(transports, writes_are_there_when_the_target_is_notified) {
    run(2, 4096, [](rank_process &me, board &shared) {
        me.post_receives(16);
        for (const std::size_t size : sizes)
            for (int i = 0; i < (size < 100000 ? 10 : 1); ++i)
                write_then_notify(me, shared, size);
    });
}
TEST_P(transports, writes_are_there_when_another_rank_notifies) {
    run(3, 4096, [](rank_process &me, board &shared) {
        me.post_receives(16);
        for (const std::size_t size : sizes)
            for (int i = 0; i < (size < 100000 ? 10 : 1); ++i)
                write_then_notify(me, shared, size);
    });
}

// Counts completions; receives are posted again.
struct ledger {
    rank_process &me;
    long sent = 0, moved = 0, lost = 0, received = 0;

    void take() {
        me.idle();
        for (; !me.happened.empty(); me.happened.pop_front()) {
            const event e = me.happened.front();
            switch (e.kind) {
            case event_kind::sent:
                ++sent;
                break;
            case event_kind::transferred:
                ++moved;
                break;
            case event_kind::received:
                ++received;
                me.net->post(static_cast<packet &>(*e.request));
                break;
            case event_kind::lost:
                if (e.request->kind == request_kind::receive)
                    me.net->post(static_cast<packet &>(*e.request));
                else
                    ++lost;
            }
        }
    }
};

// Rank 0 reads from the others, and gives up rank 1 in the middle, which lives and goes on to send. What it
// reads from rank 2 arrives.
TEST_P(transports, a_transfer_that_is_given_up_does_not_touch_its_memory_any_more) {
    if (GetParam().scope == reach::same_host && !GetParam().copies_by_cma)
        GTEST_SKIP() << "ranks of a host give up processes that have ended: open_fabric";
    run(3, 4096, [](rank_process &me, board &shared) {
        constexpr std::size_t bytes = std::size_t{16} << 20;
        constexpr std::size_t given_up = 8, answered = 9, over = 10; // values of the board
        exchange(me, 10);                                            // connections come about
        std::vector<unsigned char> room(bytes, static_cast<unsigned char>(me.rank)), other(bytes);
        memory m = share(me, shared, room);
        memory more{other.data(), other.size()};
        require(me.net->register_memory(more, access_rights::read_and_write), "enroll");
        me.meet();
        if (me.rank != 0) {
            while (shared.values[given_up] == 0)
                me.idle();
            for (int i = 0; i < 2000; ++i)
                me.idle();
            ++shared.values[answered];
            while (shared.values[over] == 0)
                me.idle();
        } else {
            transfer from_1 = make_transfer(shared, 1, room, m, bytes, 0);
            transfer from_2 = make_transfer(shared, 2, other, more, bytes, 0);
            me.insist([&] { return me.net->read(from_2); });
            me.insist([&] { return me.net->read(from_1); });
            while (room[0] != 1)
                me.idle();
            me.net->forget(1);
            while (std::none_of(me.happened.begin(), me.happened.end(),
                                [&](const event &e) { return e.request == &from_1; }))
                me.idle();
            std::fill(room.begin(), room.end(), 0xee);
            shared.values[given_up] = 1;
            await(me, from_2);
            while (shared.values[answered] < 2)
                me.idle();
            require(fult::testing::all_are(std::byte{0xee}, room.data(), room.size()),
                    "a transfer wrote after its end");
            require(fult::testing::all_are(std::byte{2}, other.data(), other.size()),
                    "bytes of another rank are missing");
            shared.values[over] = 1;
        }
        me.meet_idle();
        me.net->deregister_memory(m);
        me.net->deregister_memory(more);
    });
}

// Rank 1 is killed with all kinds of operations under way. It kills itself between two calls: within a call
// it may hold a lock in the provider's shared memory, and then the others hang, which this layer cannot
// prevent (shared_test.cpp kills at any time).
TEST_P(transports, a_killed_rank_is_forgotten_and_the_others_go_on) {
    constexpr int ranks = 4;
    constexpr int victim = 1;
    constexpr std::size_t bytes = 1 << 20;
    const auto statuses = fork_ranks(ranks, GetParam(), [&](board &shared, int rank) {
        std::vector<unsigned char> room(bytes, 1);
        rank_process me(shared, rank, ranks, GetParam(), job(), 8192);
        me.post_receives(64);
        memory m = share(me, shared, room);
        ledger books{me};
        me.meet();
        int word = 0;
        for (int to = 0; to < ranks; ++to) // connections come about
            if (to != rank)
                for (outcome result; (result = me.net->inject(to, &word, sizeof word)) != outcome::done;
                     books.take())
                    require(result == outcome::again, "no connection");
        while (books.received < ranks - 1)
            books.take();
        me.meet();
        if (rank == victim)
            raise(SIGKILL);
        // Each operation that is started now ends or fails.
        long begun = 0;
        // An unanswered one holds up all later ones there: see open_fabric.
        std::vector<transfer> transfers(GetParam().copies_by_cma ? 6 : 0);
        std::vector<std::unique_ptr<buffer>> packets;
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            transfers[i] = make_transfer(shared, victim, room, m, i < 4 ? bytes : 8, 0);
            for (int tries = 0; tries < 1000; ++tries) {
                const outcome result = i % 2 == 0 ? me.net->read(transfers[i]) : me.net->write(transfers[i]);
                begun += result == outcome::done ? 1 : 0;
                if (result != outcome::again)
                    break;
                books.take();
            }
        }
        for (int i = 0; i < 2000; ++i) {
            packet &p = me.make_packet();
            p.size = static_cast<std::uint32_t>(std::min<std::size_t>(me.net->limits().message, 8000));
            p.rank = victim;
            const outcome result = me.net->send(p);
            begun += result == outcome::done ? 1 : 0;
            if (result == outcome::failed)
                break;
            books.take();
        }
        me.net->forget(victim);
        require(me.net->inject(victim, &word, sizeof word) == outcome::failed,
                "a forgotten rank is written to");
        for (int i = 0; i < 1000 || books.sent + books.moved + books.lost < begun; ++i)
            books.take();
        require(books.sent + books.moved + books.lost == begun, "an operation ended twice");
        // The others.
        for (int i = 0; i < 100; ++i)
            for (int to = 0; to < ranks; ++to)
                if (to != rank && to != victim)
                    for (outcome result; (result = me.net->inject(to, &word, sizeof word)) != outcome::done;
                         books.take())
                        require(result == outcome::again, "another rank is called unreachable");
        while (books.received < ranks - 1 + 100 * (ranks - 2))
            books.take();
        transfer t =
            make_transfer(shared, (rank + 2) % ranks == victim ? 0 : (rank + 2) % ranks, room, m, bytes, 0);
        if (t.rank != rank) {
            me.insist([&] { return me.net->read(t); });
            await(me, t);
        }
        shared.values[15].fetch_add(1);
        while (shared.values[15].load() < ranks - 1)
            books.take();
        _exit(0); // closing is another test's
    });
    for (int rank = 0; rank < ranks; ++rank) {
        const int status = statuses[static_cast<std::size_t>(rank)];
        if (rank == victim)
            EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        else
            EXPECT_EQ(status, 0) << "rank " << rank
                                 << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
    }
}

std::vector<std::string> files_of(const std::string &name) {
    std::vector<std::string> found;
    if (std::filesystem::exists("/dev/shm"))
        for (const auto &entry : std::filesystem::directory_iterator("/dev/shm"))
            if (entry.path().filename().string().find(name) != std::string::npos)
                found.push_back(entry.path().filename().string());
    return found;
}

TEST_P(transports, nothing_is_left_in_shared_memory) {
    const std::string name = "fult-test-" + fult::testing::unique_name() + "-";
    // with names still there, closed in order
    run(2, [&](board &shared, int rank) {
        fabric_settings settings;
        settings.scope = GetParam().scope;
        settings.provider = GetParam().provider;
        settings.name = name + std::to_string(rank);
        const auto net = GetParam().open(settings);
        shared.arrived.fetch_add(1);
        while (shared.arrived.load() < 2)
            sched_yield();
    });
    EXPECT_EQ(files_of(name), std::vector<std::string>{});
    // killed before the names went
    fork_ranks(2, GetParam(), [&](board &, int rank) {
        fabric_settings settings;
        settings.scope = GetParam().scope;
        settings.provider = GetParam().provider;
        settings.name = name + std::to_string(rank);
        const auto net = GetParam().open(settings);
        raise(SIGKILL);
    });
    EXPECT_EQ(files_of(name).size(), GetParam().scope == reach::same_host ? 2U : 0U)
        << "no files where the provider's used to be: the next check shows nothing";
    // which the next one of that name clears away; this time killed afterwards
    fork_ranks(2, GetParam(), [&](board &shared, int rank) {
        rank_process me(shared, rank, 2, GetParam(), name.substr(0, name.size() - 1), 4096);
        me.post_receives(8);
        int word = 0;
        me.insist([&] { return me.net->inject(1 - rank, &word, sizeof word); });
        while (me.happened.empty())
            me.idle();
        shared.values[0].fetch_add(1);
        me.meet();
        raise(SIGKILL);
    });
    EXPECT_EQ(files_of(name), std::vector<std::string>{});
}

TEST_P(transports, signals_stay_what_they_were) {
    run(1, [](board &, int) {
        std::array<struct sigaction, 32> before{};
        const auto all = [](std::array<struct sigaction, 32> &to) {
            for (int s = 1; s < 32; ++s)
                sigaction(s, nullptr, &to[static_cast<std::size_t>(s)]);
        };
        all(before);
        fabric_settings settings;
        settings.scope = GetParam().scope;
        settings.provider = GetParam().provider;
        settings.name = job();
        const auto net = GetParam().open(settings);
        std::array<struct sigaction, 32> after{};
        all(after);
        for (std::size_t s = 1; s < 32; ++s)
            require(before[s].sa_sigaction == after[s].sa_sigaction,
                    "signal " + std::to_string(s) + " goes elsewhere now");
    });
}

TEST_P(transports, a_sleeper_is_woken) {
    run(2, [](board &shared, int rank) {
        rank_process me(shared, rank, 2, GetParam(), job(), 4096, true);
        me.post_receives(8);
        int word = 0;
        me.insist([&] { return me.net->inject(1 - rank, &word, sizeof word); });
        while (me.happened.empty())
            me.idle();
        me.happened.clear();
        me.meet();
        if (me.net->descriptor() < 0) {
            require(GetParam().scope == reach::same_host, "no descriptor over a network");
            return;
        }
        for (int round = 0; round < 20; ++round) {
            if (rank == 0) {
                while (shared.values[1].load() == round) { // until the other is about to sleep
                    me.poll();
                    sched_yield();
                }
                me.insist([&] { return me.net->inject(1, &word, sizeof word); });
                while (shared.values[2].load() == round)
                    me.idle();
            } else {
                shared.values[1].fetch_add(1);
                while (me.happened.empty()) {
                    if (me.net->may_sleep()) {
                        pollfd readable{me.net->descriptor(), POLLIN, 0};
                        require(::poll(&readable, 1, -1) == 1, "nothing woke the sleeper");
                    }
                    me.poll();
                }
                me.net->post(static_cast<packet &>(*me.happened.front().request));
                me.happened.clear();
                shared.values[2].fetch_add(1);
            }
        }
        me.meet();
    });
}

// Messages that were received must not keep any thread awake afterwards.
TEST_P(transports, idle_ranks_sleep) {
    run(2, [](board &shared, int rank) {
        rank_process me(shared, rank, 2, GetParam(), job(), 4096, true);
        me.post_receives(8);
        if (me.net->descriptor() < 0)
            return;
        int word = 0;
        for (int round = 0; round < 5; ++round) {
            me.insist([&] { return me.net->inject(1 - rank, &word, sizeof word); });
            for (; me.happened.empty(); me.idle())
                ;
            me.net->post(static_cast<packet &>(*me.happened.front().request));
            me.happened.clear();
            me.meet_idle();                                 // nothing is under way any more
            for (bool calm = false; !calm; sched_yield()) { // never, if the descriptor stays readable
                while (me.poll() != 0)
                    ;
                pollfd readable{me.net->descriptor(), POLLIN, 0};
                calm = me.net->may_sleep() && ::poll(&readable, 1, 0) == 0;
            }
            require(me.happened.empty(), "something that was not sent");
            me.meet_idle();
        }
    });
}

} // namespace

INSTANTIATE_TEST_SUITE_P(over, transports, testing::ValuesIn(ways()),
                         [](const auto &p) { return std::string(p.param.label); });
