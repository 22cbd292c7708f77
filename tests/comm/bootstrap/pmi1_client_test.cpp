// The client against a server of the test, which answers like several real servers, and incorrectly.
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/bootstrap/pmi1_wire.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::chrono::hours patient{24}; // time: given, never reached

// Answers the ranks of one job, a thread for each.
class server {
  public:
    int ranks = 1;
    long value_most = 1024;
    bool reversed = false; // cmd= comes last
    // The answer instead, if set: "-" closes the connection, "" sends nothing.
    std::function<std::optional<std::string>(const std::string &command)> instead;
    std::size_t longest_line = 0;
    bool finalized = false;
    std::string aborted;

    // The environment of a rank that this server started. The client then owns the descriptor.
    void start(int rank) {
        int ends[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ::setenv("PMI_FD", std::to_string(ends[1]).c_str(), 1);
        ::setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
        ::setenv("PMI_SIZE", std::to_string(ranks).c_str(), 1);
        descriptors_.push_back(ends[1]);
        threads_.emplace_back([this, socket = ends[0]] { serve(socket); });
    }

    // The launcher's view of a rank that has ended.
    void finish() {
        for (const int descriptor : descriptors_)
            ::shutdown(descriptor, SHUT_RDWR);
        for (auto &thread : threads_)
            thread.join();
        for (const int descriptor : descriptors_)
            ::close(descriptor);
        descriptors_.clear();
        threads_.clear();
    }
    ~server() { finish(); }

  private:
    void serve(int socket) {
        pmi1_lines lines;
        char some[512];
        for (ssize_t got; (got = ::read(socket, some, sizeof some)) > 0;) {
            lines.feed({some, static_cast<std::size_t>(got)});
            while (const auto line = lines.next()) {
                const std::string reply = answer(*line);
                if (reply == "-") {
                    ::close(socket);
                    return;
                }
                if (!reply.empty() && ::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) < 0)
                    break;
            }
        }
        ::close(socket);
    }

    std::string answer(const std::string &line) {
        const pmi1_reply request{line};
        const std::string command(*request.find("cmd"));
        std::unique_lock lock(mutex_);
        longest_line = std::max(longest_line, line.size() + 1);
        if (instead)
            if (const auto other = instead(command))
                return other->empty() || *other == "-" ? *other : *other + "\n";
        const auto key = std::string(request.find("key").value_or(""));
        if (command == "init")
            return reply("response_to_init", "pmi_version=1 pmi_subversion=1 rc=0");
        if (command == "get_maxes")
            return reply("maxes", "kvsname_max=256 keylen_max=64 vallen_max=" + std::to_string(value_most));
        if (command == "get_my_kvsname")
            return reply("my_kvsname", "kvsname=kvs_4711_0");
        if (command == "put") {
            const auto value = std::string(request.find("value").value_or(""));
            const bool fits = static_cast<long>(value.size()) < value_most && key.size() < 64;
            return reply("put_result", fits && store_.emplace(key, value).second
                                           ? "rc=0 msg=success"
                                           : "rc=-1 msg=duplicate_or_too_long");
        }
        if (command == "get")
            return store_.count(key) != 0 ? reply("get_result", "rc=0 msg=success value=" + store_[key])
                                          : reply("get_result", "rc=-1 msg=no_such_key value=unknown");
        if (command == "barrier_in") {
            const unsigned round = round_;
            if (++arrived_ == ranks) {
                arrived_ = 0;
                ++round_;
                all_came_.notify_all();
            } else {
                all_came_.wait(lock, [&] { return round_ != round; });
            }
            return reply("barrier_out", "rc=0");
        }
        if (command == "finalize") {
            finalized = true;
            return reply("finalize_ack", "rc=0");
        }
        if (command == "abort")
            aborted = line;
        return "-";
    }

    std::string reply(const std::string &command, const std::string &rest) const {
        return (reversed ? rest + " cmd=" + command : "cmd=" + command + " " + rest) + "\n";
    }

    std::mutex mutex_;
    std::condition_variable all_came_;
    int arrived_ = 0;
    unsigned round_ = 0;
    std::map<std::string, std::string> store_;
    std::vector<std::thread> threads_;
    std::vector<int> descriptors_;
};

std::string bytes_of(int rank, std::size_t size) {
    std::string result(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        result[i] = static_cast<char>(i * 7 + static_cast<std::size_t>(rank));
    return result;
}

class pmi1_client : public testing::TestWithParam<std::tuple<bool, long>> {};

TEST_P(pmi1_client, exchanges) {
    server launcher;
    launcher.ranks = 3;
    std::tie(launcher.reversed, launcher.value_most) = GetParam();
    std::vector<std::unique_ptr<bootstrap>> ranks;
    for (int rank = 0; rank < 3; ++rank) {
        launcher.start(rank);
        ranks.push_back(connect_bootstrap(patient));
        EXPECT_EQ(ranks.back()->rank(), rank);
        EXPECT_EQ(ranks.back()->size(), 3);
        EXPECT_STREQ(ranks.back()->name(), "PMI-1");
    }
    std::vector<std::future<void>> done;
    for (int rank = 0; rank < 3; ++rank)
        done.push_back(std::async(std::launch::async, [&, rank] {
            for (const std::size_t size : {5000, 0, 1, 333}) {
                const auto all = ranks[static_cast<std::size_t>(rank)]->exchange(
                    bytes_of(rank, size * static_cast<std::size_t>(rank)));
                ASSERT_EQ(all.size(), 3u);
                for (int from = 0; from < 3; ++from)
                    EXPECT_TRUE(all[static_cast<std::size_t>(from)] ==
                                bytes_of(from, size * static_cast<std::size_t>(from)))
                        << from << " to " << rank;
                ranks[static_cast<std::size_t>(rank)]->barrier();
            }
        }));
    for (auto &each : done)
        each.get();
    ranks.clear();
    EXPECT_TRUE(launcher.finalized);
    EXPECT_LE(launcher.longest_line, 1024u);
    EXPECT_EQ(launcher.aborted, "");
}

INSTANTIATE_TEST_SUITE_P(servers, pmi1_client,
                         testing::Combine(testing::Bool(), testing::Values(17L, 64L, 1024L, 1'000'000L)));

// Returns the text of the error of a job of one rank if the server answers `command` with `answer`.
std::string error_with(const std::string &command, const std::string &answer,
                       std::chrono::milliseconds timeout = patient) {
    server launcher;
    launcher.instead = [&](const std::string &now) -> std::optional<std::string> {
        if (now == command)
            return answer;
        return {};
    };
    launcher.start(0);
    try {
        const auto rank = connect_bootstrap(timeout);
        rank->exchange("bytes");
        rank->exchange(bytes_of(1, 5000));
    } catch (const bootstrap_error &error) {
        return error.what();
    }
    return "no error";
}

TEST(pmi1_client_errors, name_what_the_server_did) {
    for (const char *command : {"init", "get_maxes", "get_my_kvsname", "put", "barrier_in"}) {
        EXPECT_NE(error_with(command, "-").find("closed the connection"), std::string::npos) << command;
        EXPECT_NE(error_with(command, "hello").find("without cmd="), std::string::npos) << command;
        EXPECT_NE(error_with(command, "cmd=get_result rc=0").find("instead of cmd="), std::string::npos)
            << command;
    }
    EXPECT_NE(error_with("init", "cmd=response_to_init rc=-1").find("refused"), std::string::npos);
    EXPECT_NE(error_with("put", "cmd=put_result rc=-1 msg=full").find("refused"), std::string::npos);
    const std::chrono::milliseconds short_time{50}; // time: a lower bound
    EXPECT_NE(error_with("barrier_in", "", short_time).find("no answer to cmd=barrier_in for 50 ms"),
              std::string::npos);
    EXPECT_NE(error_with("get_my_kvsname", "cmd=my_kvsname kvsname=").find("no kvsname"), std::string::npos);
    EXPECT_NE(error_with("get_maxes", "cmd=maxes keylen_max=64").find("vallen_max is missing"),
              std::string::npos);
    EXPECT_NE(error_with("get_maxes", "cmd=maxes keylen_max=64 vallen_max=4").find("too short"),
              std::string::npos);
    EXPECT_NE(
        error_with("get_my_kvsname", "cmd=my_kvsname kvsname=" + std::string(1000, 'k')).find("too short"),
        std::string::npos);
}

// The second rank of two: the server chooses the answers for the first.
TEST(pmi1_client_errors, name_what_another_rank_put) {
    const std::pair<const char *, const char *> cases[] = {
        {"cmd=get_result rc=0 value=", "no value of ours"},
        {"cmd=get_result rc=0", "no value for rank 0"},
        {"cmd=get_result rc=-1 value=unknown", "refused"},
        {"cmd=get_result rc=0 value=ffffffffAAAA", "no value of ours"},
        {"cmd=get_result rc=0 value=00000001AAAAAA", "more bytes than announced"},
        {"cmd=get_result rc=0 value=00000001!!", "a letter that"},
    };
    for (const auto &[reply, expected] : cases) {
        server launcher;
        launcher.ranks = 2;
        launcher.instead = [&, text = reply](const std::string &command) -> std::optional<std::string> {
            if (command == "get")
                return text;
            if (command == "barrier_in")
                return "cmd=barrier_out";
            return {};
        };
        launcher.start(1);
        const auto rank = connect_bootstrap(patient);
        try {
            rank->exchange("bytes");
            ADD_FAILURE() << reply << " was taken";
        } catch (const bootstrap_error &error) {
            EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
        }
        EXPECT_THROW(rank->barrier(), bootstrap_error);
    }
}

TEST(pmi1_client_errors, the_environment_is_checked) {
    const auto with = [](const char *fd, const char *rank, const char *size) {
        ::setenv("PMI_FD", fd, 1);
        ::setenv("PMI_RANK", rank, 1);
        ::setenv("PMI_SIZE", size, 1);
        try {
            connect_bootstrap(patient);
        } catch (const bootstrap_error &error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_NE(with("999", "0", "1").find("PMI_FD=999 is no connection"), std::string::npos);
    EXPECT_NE(with("x", "0", "1").find("PMI_FD='x' must be a number"), std::string::npos);
    EXPECT_NE(with("0", "2", "2").find("PMI_RANK='2' must be a number from 0 to 1"), std::string::npos);
    EXPECT_NE(with("0", "0", "0").find("PMI_SIZE='0' must be"), std::string::npos);
    ::unsetenv("PMI_RANK");
    EXPECT_NE(with("0", "", "2").find("PMI_RANK=''"), std::string::npos);
}

TEST(pmi1_client, the_number_of_ranks_is_known_before_the_connection) {
    ::unsetenv("PMI_FD");
    EXPECT_EQ(ranks_by_launcher(), 1);
    ::setenv("PMI_SIZE", "7", 1); // of a launcher that did not start this process
    EXPECT_EQ(ranks_by_launcher(), 1);
    ::setenv("PMI_FD", "3", 1);
    EXPECT_EQ(ranks_by_launcher(), 7);
    ::setenv("PMIX_NAMESPACE", "job", 1); // first, as for connections
    EXPECT_EQ(ranks_by_launcher(), 0);
    ::setenv("SLURM_NTASKS", "12", 1);
    EXPECT_EQ(ranks_by_launcher(), 12);
    for (const char *const each : {"SLURM_NTASKS", "PMIX_NAMESPACE", "PMI_FD", "PMI_SIZE"})
        ::unsetenv(each);
}

TEST(pmi1_client_errors, a_contribution_has_a_limit) {
    server launcher;
    launcher.start(0);
    const auto rank = connect_bootstrap(patient);
    EXPECT_THROW(rank->exchange(std::string(max_contribution + 1, 'x')), bootstrap_error);
    EXPECT_EQ(rank->exchange(std::string(max_contribution, 'x')).at(0).size(), max_contribution);
}

TEST(pmi1_client_death, abort_notifies_the_server_and_ends_the_process) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            server launcher;
            launcher.start(0);
            connect_bootstrap(patient)->abort(7, "because");
        },
        testing::ExitedWithCode(7), "rank 0 ends all ranks: because");
}

} // namespace
} // namespace fult::comm::detail
