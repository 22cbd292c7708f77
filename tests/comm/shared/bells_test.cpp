// Doorbells: which processes may ring, and what remains of them.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "comm/shared/bells.hpp"
#include "tests/support/unique.hpp"

namespace {

using fult::comm::detail::doorbells;

std::vector<std::string> files_of(const std::string &base) {
    std::vector<std::string> found;
    for (const auto &each : std::filesystem::directory_iterator("/dev/shm"))
        if (each.path().filename().string().starts_with(base))
            found.push_back(each.path());
    return found;
}

// Before the first test, and so before the first doorbell. The commands for which the process is registered.
class at_start final : public ::testing::Environment {
  public:
    static inline long registrations = -1;
    void SetUp() override {
        constexpr int get_registrations = 1 << 9; // MEMBARRIER_CMD_GET_REGISTRATIONS of Linux 6.3
        registrations = ::syscall(SYS_membarrier, get_registrations, 0, 0);
    }
};
[[maybe_unused]] const auto *const added = ::testing::AddGlobalTestEnvironment(new at_start);

// Later it takes milliseconds, since the program has threads.
TEST(bells, the_process_is_registered_when_the_library_is_loaded) {
    if (at_start::registrations < 0)
        GTEST_SKIP() << "this kernel does not say for what a process is registered";
    EXPECT_NE(at_start::registrations & MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0);
}

struct pair_of_bells {
    std::string base = "fult-test-" + fult::testing::unique_name() + "-";
    std::vector<std::string> names{base + "0-bell", base + "1-bell"};
    doorbells first{names[0], 2}, second{names[1], 2};

    void connect() {
        first.connect(std::vector<std::string>{"", names[1]});
        second.connect(std::vector<std::string>{names[0], ""});
    }
    std::vector<std::string> files() const { return files_of(base); }
};

// What a killed job has left is replaced.
TEST(bells, replace_what_is_in_their_way) {
    const std::string name = "fult-test-" + fult::testing::unique_name() + "-stale";
    for (const std::string &path : {"/dev/shm/" + name, "/dev/shm/" + name + ".socket"})
        std::ofstream(path) << "stale";
    doorbells made(name, 1);
    EXPECT_EQ(std::filesystem::file_size("/dev/shm/" + name), 4096U);
    made.unlink_names();
    EXPECT_TRUE(files_of(name).empty());
}

bool rings(const doorbells &where) {
    pollfd what{where.descriptor(), POLLIN, 0};
    return ::poll(&what, 1, 0) == 1;
}

TEST(bells, wake_only_the_sleeper) {
    pair_of_bells both;
    both.connect();
    both.first.unlink_names();
    both.second.unlink_names();
    EXPECT_TRUE(both.files().empty());
    both.first.ring(1);
    EXPECT_FALSE(rings(both.second)) << "awake";
    both.second.begin_sleep();
    both.first.ring(1);
    EXPECT_TRUE(rings(both.second));
    EXPECT_FALSE(rings(both.first));
    for (int i = 0; i < 1000; ++i) // more than a socket holds
        both.first.ring(1);
    both.second.end_sleep();
    EXPECT_FALSE(rings(both.second));
    both.second.begin_sleep();
    both.first.ring(1);
    EXPECT_TRUE(rings(both.second)) << "the second time";
}

TEST(bells, leave_no_files) {
    std::string base;
    {
        pair_of_bells both;
        base = both.base;
        EXPECT_EQ(both.files().size(), 4U) << "a page and a socket each";
    }
    EXPECT_TRUE(files_of(base).empty());
}

// Whatever the umask is; no socket is in the abstract namespace, where every process could send.
TEST(bells, are_out_of_the_reach_of_other_users) {
    const mode_t before = umask(0);
    pair_of_bells both;
    umask(before);
    for (const std::string &each : both.files()) {
        struct stat envelope {};
        ASSERT_EQ(stat(each.c_str(), &envelope), 0);
        EXPECT_EQ(envelope.st_mode & 0777, 0600U) << each;
    }
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can become another user";
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, ("/dev/shm/" + both.names[0] + ".socket").c_str(),
                     sizeof address.sun_path - 1);
        const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        const bool sent =
            sendto(socket, "x", 1, MSG_DONTWAIT, reinterpret_cast<sockaddr *>(&address), sizeof address) == 1;
        _exit(!sent && errno == EACCES ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

} // namespace
