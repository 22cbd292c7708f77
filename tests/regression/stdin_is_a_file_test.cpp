// Then: stacks were mapped from file descriptor 0, so that with a file as standard input they were mappings
// of that file.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "tests/support/support.hpp"

namespace {

namespace this_task = fult::this_task;

TEST(stdin_is_a_file, stacks_are_not_made_of_it) {
    char path[] = "fult_stdin_XXXXXX";
    const int file = ::mkstemp(path);
    ASSERT_GE(file, 0);
    const std::string content(3u << 20, 'i');
    ASSERT_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    const int before = ::dup(0);
    ASSERT_EQ(::dup2(file, 0), 0);
    {
        const fult::runtime running(fult::testing::workers(2));
        std::atomic<int> blocked{0};
        std::atomic<bool> go{false};
        std::vector<fult::handle<void>> all;
        for (int i = 0; i < 300; ++i)
            all.push_back(fult::spawn([&] {
                char local[8192];
                std::memset(local, 1, sizeof local);
                blocked.fetch_add(1);
                while (!go.load())
                    this_task::wait();
                for (const char c : local)
                    ASSERT_EQ(c, 1);
            }));
        while (blocked.load() != 300)
            this_task::yield();
        std::ifstream maps("/proc/self/maps");
        for (std::string line; std::getline(maps, line);)
            EXPECT_EQ(line.find("fult_stdin_"), std::string::npos) << line;
        go = true;
        for (auto &each : all)
            signal(each.id());
        join_all(all);
    }
    std::string after(content.size() + 1, '\0');
    EXPECT_EQ(::pread(file, after.data(), after.size(), 0), static_cast<ssize_t>(content.size()));
    after.resize(content.size());
    EXPECT_TRUE(after == content);
    if (before >= 0)
        ::dup2(before, 0);
    ::close(file);
    ::unlink(path);
}

TEST(stdin_is_a_file, nor_of_anything_where_it_is_closed) {
    const int before = ::dup(0);
    ::close(0);
    {
        const fult::runtime running(fult::testing::workers(2));
        EXPECT_EQ(fult::spawn([] {
                      this_task::yield();
                      return 1;
                  }).join(),
                  1);
    }
    if (before >= 0) {
        ::dup2(before, 0);
        ::close(before);
    }
}

} // namespace
