#include <cstring>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "global/mapped_memory.hpp"

namespace {

using fult::global::detail::mapped_memory;
using fult::global::detail::memory_name;
using use = mapped_memory::use;

constexpr std::size_t bytes = 1 << 20;

TEST(mapped_memory, of_this_process_is_zero_and_has_no_name) {
    const mapped_memory own(bytes, use::by_this_process);
    ASSERT_EQ(own.size(), bytes);
    EXPECT_EQ(own.begin()[bytes - 1], std::byte{0});
    EXPECT_EQ(own.name().token, 0U);
    EXPECT_FALSE(mapped_memory(own.name(), bytes).begin());
}

TEST(mapped_memory, is_found_by_its_name) {
    const mapped_memory own(bytes, use::by_all);
    ASSERT_EQ(own.size(), bytes);
    EXPECT_EQ(own.begin()[bytes - 1], std::byte{0});
    const mapped_memory again(own.name(), bytes);
    ASSERT_EQ(again.size(), bytes);
    ASSERT_NE(again.begin(), own.begin());
    again.begin()[7] = std::byte{9};
    EXPECT_EQ(own.begin()[7], std::byte{9});
    EXPECT_EQ(again.name().token, 0U) << "it is another's";
}

TEST(mapped_memory, other_names_find_nothing) {
    const mapped_memory own(bytes, use::by_all);
    EXPECT_FALSE(mapped_memory(own.name(), 2 * bytes).begin()) << "of another size";
    memory_name other = own.name();
    ++other.token;
    EXPECT_FALSE(mapped_memory(other, bytes).begin()) << "what is open there is not that memory";
    other = own.name();
    other.descriptor = STDIN_FILENO;
    EXPECT_FALSE(mapped_memory(other, bytes).begin());
    other.descriptor = 1 << 30;
    EXPECT_FALSE(mapped_memory(other, bytes).begin());
    other = own.name();
    other.process = -1;
    EXPECT_FALSE(mapped_memory(other, bytes).begin());
    memory_name ended;
    {
        const mapped_memory gone(bytes, use::by_all);
        ended = gone.name();
    }
    EXPECT_FALSE(mapped_memory(ended, bytes).begin());
}

TEST(mapped_memory, moves) {
    mapped_memory first(bytes, use::by_all);
    const memory_name name = first.name();
    std::byte *const begin = first.begin();
    mapped_memory second(std::move(first));
    EXPECT_EQ(second.begin(), begin);
    mapped_memory third;
    third = std::move(second);
    EXPECT_EQ(third.begin(), begin);
    EXPECT_TRUE(mapped_memory(name, bytes).begin());
}

TEST(mapped_memory, more_than_the_system_has_is_empty) {
    const mapped_memory none(std::size_t{1} << 60, use::by_all);
    EXPECT_FALSE(none.begin());
    EXPECT_EQ(none.size(), 0U);
    EXPECT_EQ(none.name().token, 0U);
    EXPECT_FALSE(mapped_memory(0, use::by_all).begin());
}

TEST(mapped_memory, the_others_see_its_end) {
    mapped_memory own(bytes + 1, use::by_all);
    const mapped_memory other(own.name(), bytes + 1);
    ASSERT_TRUE(other.begin());
    other.begin()[bytes] = std::byte{255};
    EXPECT_FALSE(other.has_ended());
    own.end();
    EXPECT_TRUE(other.has_ended());
    EXPECT_EQ(other.begin()[bytes], std::byte{255});
    EXPECT_FALSE(mapped_memory().has_ended());
}

TEST(mapped_memory, without_its_name_it_is_not_found) {
    mapped_memory own(bytes, use::by_all);
    const memory_name name = own.name();
    own.end_name();
    EXPECT_FALSE(mapped_memory(name, bytes).begin());
    EXPECT_EQ(own.begin()[0], std::byte{0});
}

// In a child with that limit. True if `holds` does.
template <class F> bool with_limit(int of, rlim_t most, F holds) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit lower{most, most};
        _exit(setrlimit(static_cast<__rlimit_resource_t>(of), &lower) == 0 && holds() ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

TEST(mapped_memory, larger_than_files_may_be_is_of_this_process_alone) {
    EXPECT_TRUE(with_limit(RLIMIT_FSIZE, bytes, [] {
        const mapped_memory own(bytes, use::by_all);
        own.begin()[bytes - 1] = std::byte{1};
        return own.name().token == 0;
    }));
}

TEST(mapped_memory, is_not_mapped_where_address_space_is_limited) {
    const mapped_memory own(bytes, use::by_all);
    EXPECT_TRUE(with_limit(RLIMIT_AS, rlim_t{1} << 62,
                           [&own] { return !mapped_memory(own.name(), bytes).begin() && own.begin(); }));
}

// A process that makes memory, waits for a byte there, and ends.
TEST(mapped_memory, outlives_its_process) {
    int to_parent[2], to_child[2];
    ASSERT_EQ(pipe(to_parent) + pipe(to_child), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const mapped_memory own(bytes, use::by_all);
        const memory_name name = own.name();
        char written = 0;
        const bool works = write(to_parent[1], &name, sizeof name) == sizeof name &&
                           read(to_child[0], &written, 1) == 1 && own.begin()[100] == std::byte{42};
        own.begin()[101] = std::byte{43};
        _exit(works ? 0 : 1);
    }
    close(to_parent[1]); // then its end is that of the pipe
    memory_name name;
    ASSERT_EQ(read(to_parent[0], &name, sizeof name), static_cast<ssize_t>(sizeof name));
    const mapped_memory there(name, bytes);
    if (there.begin())
        there.begin()[100] = std::byte{42};
    EXPECT_EQ(write(to_child[1], "", 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ASSERT_TRUE(there.begin());
    EXPECT_EQ(there.begin()[101], std::byte{43});
    for (const int each : {to_parent[0], to_child[0], to_child[1]})
        close(each);
}

} // namespace
