#include <arpa/inet.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fult/descriptor.hpp>
#include <fult/fult.hpp>

#include "tests/support/support.hpp"

namespace {

using namespace std::chrono_literals;
using fult::descriptor_status;
using fult::spawn;
using fult::wait_readable;
using fult::wait_readable_for;
using fult::wait_readable_until;
using fult::wait_writable;
using fult::testing::scaled;

constexpr auto ample_time = 1000h; // time: given, never reached

struct pair {
    int ends[2];
    pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0); }
    pair(const pair &) = delete;
    pair &operator=(const pair &) = delete;
    ~pair() {
        for (const int end : ends)
            if (end >= 0)
                ::close(end);
    }
};

void send_byte(int to, char c = 'x') {
    while (::write(to, &c, 1) != 1)
        ASSERT_EQ(wait_writable(to), descriptor_status::ready);
}
char receive_byte(int from) {
    char c = 0;
    while (::read(from, &c, 1) != 1) {
        EXPECT_TRUE(errno == EAGAIN || errno == EINTR);
        EXPECT_EQ(wait_readable(from), descriptor_status::ready);
    }
    return c;
}
void fill(int end) {
    static const char much[65536] = {};
    while (::write(end, much, sizeof much) > 0)
        ;
}

class descriptor : public ::testing::TestWithParam<unsigned> {
  protected:
    fult::runtime running{fult::testing::workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(workers, descriptor, ::testing::Values(1U, 2U, 8U));

TEST_P(descriptor, what_is_there_is_ready_at_once) {
    const pair p;
    EXPECT_EQ(wait_writable(p.ends[0]), descriptor_status::ready);
    send_byte(p.ends[0]);
    EXPECT_EQ(wait_readable(p.ends[1]), descriptor_status::ready);
    EXPECT_EQ(wait_readable(p.ends[1]), descriptor_status::ready); // still
    EXPECT_EQ(wait_readable_for(p.ends[1], 0s), descriptor_status::ready);
    EXPECT_EQ(wait_readable_for(p.ends[0], 0s), descriptor_status::timed_out);
}

TEST_P(descriptor, pairs_play_ping_pong) {
    const std::size_t rounds = scaled(500);
    std::vector<fult::handle<void>> tasks;
    std::vector<pair> pairs(10);
    for (pair &p : pairs)
        for (int side : {0, 1})
            tasks.push_back(spawn([&p, side, rounds] {
                for (std::size_t r = 0; r < rounds; ++r) {
                    if (side == 0)
                        send_byte(p.ends[0]);
                    EXPECT_EQ(receive_byte(p.ends[side]), 'x');
                    if (side == 1)
                        send_byte(p.ends[1]);
                }
            }));
    fult::join_all(tasks);
}

TEST_P(descriptor, a_reader_and_a_writer_wait_for_one_descriptor) {
    const pair p;
    fill(p.ends[0]);
    std::atomic<bool> wrote{false};
    auto writer = spawn([&] {
        EXPECT_EQ(wait_writable(p.ends[0]), descriptor_status::ready);
        wrote = true;
    });
    auto reader = spawn([&] { return wait_readable(p.ends[0]); });
    fult::this_task::yield();
    send_byte(p.ends[1]);
    EXPECT_EQ(reader.join(), descriptor_status::ready);
    char much[65536];
    while (!wrote.load()) {
        while (::read(p.ends[1], much, sizeof much) > 0)
            ;
        fult::this_task::yield();
    }
    writer.join();
}

// A wait that has timed out leaves its event behind. A worker may take that event from the kernel, and be
// late: by then the byte has been read, and another wait has begun.
TEST_P(descriptor, an_event_of_an_earlier_wait_ends_no_later_one) {
    pair p, quiet;
    auto other = fult::spawn([&quiet] { return wait_readable(quiet.ends[0]); }); // so that workers poll
    std::atomic<bool> over{false};
    std::vector<fult::handle<void>>
        polling; // two tasks on each other worker that yield: it polls between them
    for (int i = 2; i < 2 * fult::worker_count(); ++i)
        polling.push_back(fult::spawn_pinned(i / 2, [&over] {
            while (!over)
                fult::this_task::yield();
        }));
    int ready = 0;
    for (std::size_t i = 0; i < scaled(500); ++i) {
        EXPECT_EQ(wait_readable_for(p.ends[0], 1us), descriptor_status::timed_out); // time: a lower bound
        send_byte(p.ends[1]);
        char c = 0;
        EXPECT_EQ(::read(p.ends[0], &c, 1), 1);
        ready += wait_readable_for(p.ends[0], 20us) != descriptor_status::timed_out; // time: a lower bound
    }
    over = true;
    fult::join_all(polling);
    send_byte(quiet.ends[1]);
    EXPECT_EQ(other.join(), descriptor_status::ready);
    EXPECT_EQ(ready, 0);
}

TEST_P(descriptor, all_readers_hear_of_it) {
    const pair p;
    std::vector<fult::handle<descriptor_status>> readers;
    for (int i = 0; i < 5; ++i)
        readers.push_back(spawn([&] { return wait_readable(p.ends[0]); }));
    fult::this_task::yield();
    send_byte(p.ends[1]);
    for (auto &each : readers)
        EXPECT_EQ(each.join(), descriptor_status::ready);
}

TEST_P(descriptor, waits_end_with_time_and_stop) {
    const pair p;
    const auto start = std::chrono::steady_clock::now();                        // time: a lower bound
    EXPECT_EQ(wait_readable_for(p.ends[0], 2ms), descriptor_status::timed_out); // time: a lower bound
    EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);                   // time: a lower bound
    // time: a lower bound
    EXPECT_EQ(wait_readable_until(p.ends[0], std::chrono::system_clock::now() + 1ms),
              descriptor_status::timed_out);
    std::stop_source source;
    auto first = spawn([&] { return wait_readable(p.ends[0], source.get_token()); });
    auto second = spawn([&] { return wait_readable_for(p.ends[0], source.get_token(), ample_time); });
    fult::this_task::yield();
    source.request_stop();
    EXPECT_EQ(first.join(), descriptor_status::stopped);
    EXPECT_EQ(second.join(), descriptor_status::stopped);
    // Nothing of this is left behind.
    auto third = spawn([&] { return wait_readable_for(p.ends[0], ample_time); });
    fult::this_task::yield();
    send_byte(p.ends[1]);
    EXPECT_EQ(third.join(), descriptor_status::ready);
}

TEST_P(descriptor, times_race_with_data) {
    const pair p;
    const std::size_t rounds = scaled(500);
    for (std::size_t r = 0; r < rounds; ++r) {
        // time: either order is right
        auto reader = spawn([&] { return wait_readable_for(p.ends[0], std::chrono::microseconds(r % 50)); });
        if (r % 2)
            fult::this_task::yield();
        send_byte(p.ends[1]);
        const descriptor_status how = reader.join();
        EXPECT_TRUE(how == descriptor_status::ready || how == descriptor_status::timed_out);
        EXPECT_EQ(receive_byte(p.ends[0]), 'x');
    }
}

TEST_P(descriptor, the_other_sides_end_is_ready) {
    pair p;
    auto reader = spawn([&] { return wait_readable(p.ends[0]); });
    fult::this_task::yield();
    ::close(std::exchange(p.ends[1], -1));
    EXPECT_EQ(reader.join(), descriptor_status::ready);
    char c;
    EXPECT_EQ(::read(p.ends[0], &c, 1), 0);
}

TEST_P(descriptor, closing_ends_waits) {
    pair p;
    fill(p.ends[0]);
    std::vector<fult::handle<descriptor_status>> waiting;
    std::atomic<int> begun{0};
    for (int i = 0; i < 4; ++i)
        waiting.push_back(spawn([&, i] {
            ++begun;
            return i % 2 ? wait_readable(p.ends[0]) : wait_writable(p.ends[0]);
        }));
    while (begun.load() != 4)
        fult::this_task::yield();
    // A started task may not wait yet: then it finds the descriptor closed.
    EXPECT_EQ(fult::close_descriptor(p.ends[0]), 0);
    for (auto &each : waiting)
        try {
            EXPECT_EQ(each.join(), descriptor_status::closed);
        } catch (const std::system_error &error) {
            EXPECT_EQ(error.code().value(), EBADF);
        }
    EXPECT_EQ(fult::close_descriptor(p.ends[0]), -1);
    EXPECT_EQ(errno, EBADF);
    p.ends[0] = -1;
}

// A number that was closed by close(2) and is used again: the kernel has removed it, the library must notice.
TEST_P(descriptor, numbers_are_used_again) {
    for (std::size_t r = 0; r < scaled(200); ++r) {
        const pair p;
        auto reader = spawn([&] { return receive_byte(p.ends[0]); });
        if (r % 3)
            fult::this_task::yield();
        send_byte(p.ends[1], 'y');
        EXPECT_EQ(reader.join(), 'y');
    }
}

TEST_P(descriptor, files_are_always_ready) {
    char name[] = "/tmp/fult-descriptor-XXXXXX";
    const int file = ::mkstemp(name);
    ASSERT_GE(file, 0);
    ::unlink(name);
    EXPECT_EQ(wait_readable(file), descriptor_status::ready);
    EXPECT_EQ(wait_writable(file), descriptor_status::ready);
    std::thread([&] { EXPECT_EQ(wait_readable(file), descriptor_status::ready); }).join();
    ::close(file);
}

TEST_P(descriptor, one_that_is_not_open_is_an_error) {
    const auto fails = [] {
        EXPECT_THROW(wait_readable(-1), std::system_error);
        EXPECT_THROW(wait_writable(1'000'000), std::system_error);
        EXPECT_THROW(wait_readable_for(1'000'000, 0s), std::system_error);
        EXPECT_THROW(wait_readable(2'000'000'000), std::system_error);
    };
    fails();
    std::thread(fails).join();
}

TEST_P(descriptor, a_foreign_thread_blocks) {
    const pair p;
    std::atomic<bool> quiet{true};
    std::thread outside([&] {
        EXPECT_EQ(wait_readable_for(p.ends[0], 1ms), descriptor_status::timed_out); // time: a lower bound
        std::stop_source source;
        std::thread stopping([&] { source.request_stop(); });
        EXPECT_EQ(wait_readable(p.ends[0], source.get_token()), descriptor_status::stopped);
        stopping.join();
        quiet = false;
        EXPECT_EQ(receive_byte(p.ends[0]), 'z');
    });
    while (quiet.load())
        fult::this_task::yield();
    send_byte(p.ends[1], 'z');
    outside.join();
}

TEST_P(descriptor, closing_ends_the_wait_of_a_foreign_thread) {
    pair p;
    std::atomic<bool> begun{false};
    std::thread outside([end = p.ends[0], &begun] {
        begun = true;
        try {
            EXPECT_EQ(fult::wait_readable(end), descriptor_status::closed);
        } catch (const std::system_error &error) { // it was closed before the wait
            EXPECT_EQ(error.code().value(), EBADF);
        }
    });
    while (!begun.load())
        fult::this_task::yield();
    EXPECT_EQ(fult::close_descriptor(p.ends[0]), 0);
    p.ends[0] = -1;
    outside.join();
}

// A listening socket, its connections, a task each.
TEST_P(descriptor, connections_are_accepted) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ASSERT_GE(listener, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr *>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 64), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size), 0);
    const int count = static_cast<int>(scaled(40)) + 2;
    std::vector<fult::handle<void>> tasks;
    tasks.push_back(spawn([&] {
        for (int i = 0; i < count; ++i) {
            int accepted;
            while ((accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK)) < 0)
                ASSERT_EQ(wait_readable(listener), descriptor_status::ready);
            spawn([accepted] {
                send_byte(accepted, receive_byte(accepted));
                fult::close_descriptor(accepted);
            }).detach();
        }
    }));
    for (int i = 0; i < count; ++i)
        tasks.push_back(spawn([&] {
            const int mine = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            if (::connect(mine, reinterpret_cast<sockaddr *>(&address), size) != 0) {
                ASSERT_EQ(errno, EINPROGRESS);
                ASSERT_EQ(wait_writable(mine), descriptor_status::ready);
            }
            send_byte(mine, 'q');
            EXPECT_EQ(receive_byte(mine), 'q');
            fult::close_descriptor(mine);
        }));
    fult::join_all(tasks);
    ::close(listener);
}

// A worker that sleeps for descriptors is notified of one that is added, although the adding task continues
// computing.
// An idle worker leaves descriptors to a busy one that polls them often, and takes over when it stops.
TEST(descriptors_and_sleepers, one_that_computes_for_long_is_not_waited_for) {
    const fult::runtime running(fult::testing::workers(2));
    for (std::size_t i = 0; i < scaled(50) + 1; ++i) {
        pair both;
        std::atomic<bool> came{false};
        auto reader = fult::spawn_on(1, [&] {
            EXPECT_EQ(receive_byte(both.ends[0]), 'x');
            came = true;
        });
        for (int k = 0; k < 200; ++k)
            fult::this_task::yield(); // polls every few times
        std::thread sender([&] { EXPECT_EQ(::write(both.ends[1], "x", 1), 1); });
        fult::testing::spin_until([&] { return came.load(); }); // never polls
        reader.join();
        sender.join();
    }
}

TEST(descriptors_and_sleepers, a_sleeping_worker_hears_of_a_new_descriptor) {
    fult::runtime rt(fult::testing::workers(2));
    for (std::size_t r = 0; r < scaled(50); ++r) {
        const pair first, second;
        auto idle = spawn([&] { return wait_readable(first.ends[0]); });
        std::atomic<bool> begun{false}, heard{false};
        auto reader = spawn([&] {
            begun = true;
            receive_byte(second.ends[0]);
            heard = true;
        });
        while (!begun.load())
            fult::this_task::yield();
        fult::this_task::yield();
        std::thread outside([&] { send_byte(second.ends[1]); });
        fult::testing::spin_until([&] { return heard.load(); }); // holds this worker
        outside.join();
        reader.join();
        send_byte(first.ends[1]);
        EXPECT_EQ(idle.join(), descriptor_status::ready);
    }
}

// No worker is free, so the thread that waits polls the descriptors itself.
TEST(descriptors_and_threads, a_foreign_thread_waits_while_every_worker_computes) {
    const fult::runtime rt(fult::testing::workers(1));
    const pair p;
    std::atomic<bool> over{false};
    std::thread outside([&] {
        EXPECT_EQ(wait_readable_for(p.ends[0], 20ms), descriptor_status::timed_out); // time: a lower bound
        send_byte(p.ends[1]);
        EXPECT_EQ(wait_readable(p.ends[0]), descriptor_status::ready);
        over = true;
    });
    fult::testing::spin_until([&] { return over.load(); });
    outside.join();
}

} // namespace
