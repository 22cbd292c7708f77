#include <gtest/gtest.h>
#include <memory>
#include <random>

#include "comm/bootstrap/pmi1_wire.hpp"

namespace fult::comm::detail {
namespace {

TEST(pmi1_reply, keys_come_in_any_order) {
    for (const char *line : {"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                             "vallen_max=1024 rc=0 keylen_max=64 cmd=maxes kvsname_max=256",
                             "  cmd=maxes  vallen_max=1024 keylen_max=64  "}) {
        const pmi1_reply reply{line};
        reply.expect("maxes");
        EXPECT_EQ(reply.number("keylen_max", 1), 64) << line;
        EXPECT_EQ(reply.number("vallen_max", 1), 1024) << line;
        EXPECT_FALSE(reply.find("keylen").has_value()) << line;
    }
}

TEST(pmi1_reply, a_value_may_hold_equals_signs_and_be_empty) {
    const pmi1_reply reply{"cmd=get_result value=a=b= msg="};
    EXPECT_EQ(reply.find("value"), "a=b=");
    EXPECT_EQ(reply.find("msg"), "");
}

TEST(pmi1_reply, words_of_a_message_are_passed_over) {
    const pmi1_reply reply{"cmd=get_result rc=-1 msg=no such key"};
    EXPECT_EQ(reply.find("msg"), "no");
    EXPECT_THROW(reply.expect("get_result"), pmi1_wire_error);
}

TEST(pmi1_reply, refuses_what_is_no_answer) {
    EXPECT_THROW(pmi1_reply{""}, pmi1_wire_error);
    EXPECT_THROW(pmi1_reply{"hello"}, pmi1_wire_error);
    EXPECT_THROW(pmi1_reply{"rc=0 msg=success"}, pmi1_wire_error);
    EXPECT_THROW(pmi1_reply{"cmd=barrier_out"}.expect("maxes"), pmi1_wire_error);
    EXPECT_THROW(pmi1_reply{"cmd=maxes rc=none"}.expect("maxes"), pmi1_wire_error);
    const pmi1_reply numbers{"cmd=maxes a= b=7x c=-1 d=99999999999999999999"};
    for (const char *key : {"a", "b", "c", "d", "e"})
        EXPECT_THROW(numbers.number(key, 0), pmi1_wire_error) << key;
}

TEST(pmi1_reply, copies_are_whole) {
    auto reply = std::make_unique<pmi1_reply>("cmd=get_result value=" + std::string(100, 'v'));
    const pmi1_reply copy = *reply;
    reply.reset();
    EXPECT_EQ(copy.find("value"), std::string(100, 'v'));
}

TEST(pmi1_lines, come_in_any_pieces) {
    const std::string text = "cmd=one\n\ncmd=two a=b\ncmd=thr";
    for (std::size_t piece = 1; piece <= text.size(); ++piece) {
        pmi1_lines lines;
        std::vector<std::string> found;
        for (std::size_t at = 0; at < text.size(); at += piece) {
            lines.feed(std::string_view(text).substr(at, piece));
            while (auto line = lines.next())
                found.push_back(*line);
        }
        EXPECT_EQ(found, (std::vector<std::string>{"cmd=one", "", "cmd=two a=b"})) << piece;
    }
}

TEST(pmi1_lines, a_line_without_an_end_is_refused) {
    pmi1_lines lines;
    EXPECT_THROW(for (int i = 0; i < 100; ++i) lines.feed(std::string(1024, 'x')), pmi1_wire_error);
}

std::string decoded(const std::vector<std::string> &values, std::size_t most = 1 << 20) {
    pmi1_decoder decoder(most);
    for (const std::string &value : values) {
        EXPECT_FALSE(decoder.complete());
        decoder.take(value);
    }
    return decoder.bytes();
}

TEST(pmi1_encoding, returns_what_went_in) {
    std::mt19937 random(7);
    for (std::size_t size : {0, 1, 2, 3, 4, 5, 6, 11, 12, 13, 255, 256, 1000, 5000, 65536})
        for (std::size_t most : {16, 17, 63, 255, 800, 100000}) {
            std::string bytes(size, '\0');
            for (char &c : bytes)
                c = static_cast<char>(random() % 4 == 0 ? 0 : random());
            const auto values = pmi1_encode(bytes, most);
            for (const std::string &value : values) {
                EXPECT_LE(value.size(), most);
                EXPECT_FALSE(value.empty());
                EXPECT_EQ(value.find_first_of(" =\n;/+"), std::string::npos);
            }
            EXPECT_EQ(decoded(values), bytes) << size << " in values of " << most;
        }
}

TEST(pmi1_encoding, is_that_of_the_standard) {
    EXPECT_EQ(pmi1_encode("", 64), std::vector<std::string>{"00000000"});
    EXPECT_EQ(pmi1_encode("foobar", 64), std::vector<std::string>{"00000006Zm9vYmFy"});
    EXPECT_EQ(pmi1_encode("\xff\xfe", 64), std::vector<std::string>{"00000002__4"});
}

TEST(pmi1_encoding, refuses_other_values) {
    for (const char *value : {"", "0000000", "0000000g", "-0000001", "00000006Zm9vYmFyZ", "ffffffff"}) {
        pmi1_decoder decoder(1 << 20);
        EXPECT_THROW(decoder.take(value), pmi1_wire_error) << value;
    }
    pmi1_decoder letters(64);
    letters.take("00000003Zm=v");
    EXPECT_THROW(letters.bytes(), pmi1_wire_error);
    pmi1_decoder more(64);
    more.take("00000003");
    EXPECT_FALSE(more.complete());
    EXPECT_THROW(more.bytes(), pmi1_wire_error);
    EXPECT_THROW(more.take(""), pmi1_wire_error);
    EXPECT_THROW(more.take("Zm9vY"), pmi1_wire_error);
}

// Whatever comes, it is refused or it is taken; the sanitizers watch.
TEST(pmi1_wire, random_bytes) {
    std::mt19937 random(1234);
    const std::string pool = "cmd=get_result rc=0 value=00000005 \nmsg=success keylen_max=AZaz09-_=\n";
    int refused = 0;
    int taken = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes(random() % 200, '\0');
        for (char &c : bytes)
            c = random() % 8 == 0 ? static_cast<char>(random()) : pool[random() % pool.size()];
        // often a good beginning, with a few bytes of it changed
        if (round % 2 == 0) {
            bytes = "cmd=get_result rc=0 value=" + pmi1_encode(bytes, 400)[0] + "\n" + bytes;
            for (unsigned i = random() % 3; i > 0; --i)
                bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        try {
            pmi1_lines lines;
            pmi1_decoder decoder(4096);
            lines.feed(bytes);
            while (const auto line = lines.next()) {
                const pmi1_reply reply{*line};
                reply.expect("get_result");
                decoder.take(reply.find("value").value_or(""));
                EXPECT_TRUE(!decoder.complete() || decoder.bytes().size() <= 4096);
                ++taken;
            }
        } catch (const pmi1_wire_error &) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(taken, 1000);
}

} // namespace
} // namespace fult::comm::detail
