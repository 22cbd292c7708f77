#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "launcher/output.hpp"

namespace fult::run {
namespace {

struct pipe_pair {
    int read_end = -1;
    int write_end = -1;
    explicit pipe_pair() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
            read_end = ends[0];
            write_end = ends[1];
        }
    }
    void put(std::string_view text) const {
        ASSERT_EQ(::write(write_end, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    std::string get() const {
        std::string result;
        char some[4096];
        for (ssize_t got; (got = ::read(read_end, some, sizeof some)) > 0;)
            result.append(some, static_cast<std::size_t>(got));
        return result;
    }
};

// The output for pieces that are written one after the other.
std::string through(const std::vector<std::string> &pieces, const std::string &prefix, bool close_last) {
    const pipe_pair in;
    const pipe_pair out;
    output to(out.write_end);
    line_reader reader(in.read_end, to, prefix, close_last);
    for (const std::string &piece : pieces) {
        in.put(piece);
        reader.pump();
    }
    ::close(in.write_end);
    reader.pump();
    EXPECT_FALSE(reader.open());
    to.pump();
    EXPECT_FALSE(to.waiting());
    const std::string result = out.get();
    ::close(out.read_end);
    ::close(out.write_end);
    return result;
}

TEST(line_reader, forwards_whole_lines_with_their_prefix) {
    EXPECT_EQ(through({"one\ntw", "o\n\nthr", "ee\n"}, "[7] ", true), "[7] one\n[7] two\n[7] \n[7] three\n");
    EXPECT_EQ(through({"one\ntw", "o\n"}, "", true), "one\ntwo\n");
    EXPECT_EQ(through({}, "[7] ", true), "");
}

TEST(line_reader, closes_the_last_line_if_asked) {
    EXPECT_EQ(through({"a\nb"}, "", true), "a\nb\n");
    EXPECT_EQ(through({"a\nb"}, "", false), "a\nb");
}

TEST(line_reader, keeps_zero_bytes) {
    EXPECT_EQ(through({std::string("a\0b\n", 4)}, "", true), std::string("a\0b\n", 4));
}

TEST(line_reader, a_line_does_not_go_out_before_it_is_complete) {
    const pipe_pair in;
    output to(-1);
    line_reader first(in.read_end, to, "", true);
    in.put("half");
    first.pump();
    EXPECT_FALSE(to.waiting());
    ::close(in.write_end);
    first.finish();
    EXPECT_TRUE(to.waiting());
}

TEST(line_reader, a_line_without_an_end_goes_out_in_pieces) {
    const pipe_pair in;
    output to(-1);
    line_reader reader(in.read_end, to, "", false);
    for (int i = 0; i < 64; ++i) {
        in.put(std::string(2048, 'x'));
        reader.pump();
    }
    EXPECT_TRUE(to.waiting());
    ::close(in.write_end);
    reader.finish();
}

TEST(output, never_blocks_and_says_when_it_is_full) {
    const pipe_pair out;
    output to(out.write_end);
    std::string all;
    while (!to.full()) {
        const std::string line = std::to_string(all.size()) + "\n";
        all += line;
        to.add(line);
        to.pump();
    }
    std::string got;
    while (to.waiting()) {
        got += out.get();
        to.pump();
    }
    got += out.get();
    EXPECT_TRUE(got == all);
    EXPECT_FALSE(to.full());
    ::close(out.read_end);
    ::close(out.write_end);
}

TEST(output, a_reader_that_has_gone_is_an_error) {
    const pipe_pair out;
    ::close(out.read_end);
    ::signal(SIGPIPE, SIG_IGN);
    output to(out.write_end);
    to.add("text\n");
    to.pump();
    EXPECT_EQ(to.error(), EPIPE);
    EXPECT_FALSE(to.waiting());
    ::close(out.write_end);
}

} // namespace
} // namespace fult::run
