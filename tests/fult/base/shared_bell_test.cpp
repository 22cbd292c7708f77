#include <atomic>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "fult/base/shared_bell.hpp"
#include "tests/support/scale.hpp"

namespace {

using fult::detail::shared_bell;

TEST(shared_bell, counts_its_rings_while_it_is_open) {
    shared_bell bell;
    EXPECT_FALSE(bell.is_open());
    EXPECT_FALSE(bell.ring());
    ASSERT_TRUE(bell.open(EFD_CLOEXEC | EFD_NONBLOCK));
    const int descriptor = bell.descriptor();
    ASSERT_TRUE(bell.open(EFD_CLOEXEC | EFD_NONBLOCK));
    EXPECT_EQ(bell.descriptor(), descriptor);
    EXPECT_TRUE(bell.ring());
    EXPECT_TRUE(bell.ring(4));
    eventfd_t rings = 0;
    EXPECT_EQ(::eventfd_read(descriptor, &rings), 0);
    EXPECT_EQ(rings, 5u);
    bell.close();
    EXPECT_FALSE(bell.is_open());
    EXPECT_FALSE(bell.ring());
    EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
    bell.close();
}

TEST(shared_bell, is_left_open_where_it_is_forgotten) {
    shared_bell bell;
    ASSERT_TRUE(bell.open(EFD_CLOEXEC));
    const int descriptor = bell.descriptor();
    bell.forget();
    EXPECT_FALSE(bell.ring());
    EXPECT_EQ(::close(descriptor), 0);
}

// The program uses the number again, for a pipe, to which no ring may write.
TEST(shared_bell, no_ring_comes_after_it_is_closed) {
    shared_bell bell;
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    std::atomic<bool> over{false};
    std::vector<std::thread> ringers;
    for (int i = 0; i < 3; ++i)
        ringers.emplace_back([&] {
            while (!over)
                if (!bell.ring())
                    std::this_thread::yield();
        });
    for (std::size_t i = 0; i < fult::testing::scaled(1000) + 10; ++i) {
        ASSERT_TRUE(bell.open(EFD_CLOEXEC | EFD_NONBLOCK));
        const int number = bell.descriptor();
        std::this_thread::yield();
        bell.close();
        ASSERT_EQ(::dup2(ends[1], number), number);
        std::this_thread::yield();
        ::close(number);
        char text[8];
        ASSERT_EQ(::read(ends[0], text, sizeof text), -1) << "a ring came late";
    }
    over = true;
    for (std::thread &each : ringers)
        each.join();
    for (const int each : ends)
        ::close(each);
}

} // namespace
