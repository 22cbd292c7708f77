#include <gtest/gtest.h>
#include <random>

#include "comm/bootstrap/run_message.hpp"

namespace fult::comm::detail {
namespace {

TEST(run_message, comes_in_any_pieces) {
    const std::string bytes = printed(run_kind::exchange, 60'000, std::string("a\0b", 3)) +
                              printed(run_kind::barrier, 1, "") + printed(run_kind::abort, 7, "why");
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
        run_stream stream(16);
        std::vector<run_message> found;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            stream.feed(std::string_view(bytes).substr(at, piece));
            while (auto message = stream.next())
                found.push_back(std::move(*message));
        }
        ASSERT_EQ(found.size(), 3u) << piece;
        EXPECT_EQ(found[0].kind, run_kind::exchange);
        EXPECT_EQ(found[0].value, 60'000u);
        EXPECT_EQ(found[0].body, std::string("a\0b", 3));
        EXPECT_EQ(found[1].kind, run_kind::barrier);
        EXPECT_EQ(found[1].body, "");
        EXPECT_EQ(found[2].kind, run_kind::abort);
        EXPECT_EQ(found[2].value, 7u);
        EXPECT_EQ(found[2].body, "why");
    }
}

TEST(run_message, refuses_others_before_it_waits_for_their_body) {
    run_stream text(1024);
    text.feed("GET / HTTP/1.0\r\n\r\n");
    EXPECT_THROW(text.next(), run_message_error);

    run_stream longer(4);
    longer.feed(std::string_view(printed(run_kind::exchange, 0, "12345")).substr(0, 16));
    EXPECT_THROW(longer.next(), run_message_error);

    for (const unsigned kind : {0u, 7u, 1000u}) {
        run_stream stream(4);
        stream.feed(printed(static_cast<run_kind>(kind), 0, ""));
        EXPECT_THROW(stream.next(), run_message_error) << kind;
    }
}

TEST(pack_all, returns_what_went_in) {
    const std::vector<std::string> parts{"", std::string("\0\0", 2), "abc", std::string(5000, 'x')};
    EXPECT_EQ(unpack_all(pack_all(parts), 4), parts);
    EXPECT_EQ(unpack_all(pack_all({}), 0), std::vector<std::string>{});
}

TEST(pack_all, refuses_another_number_of_parts_and_torn_ones) {
    const std::string bytes = pack_all({"one", "", "three"});
    EXPECT_FALSE(unpack_all(bytes, 2).has_value());
    EXPECT_FALSE(unpack_all(bytes, 4).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(unpack_all(std::string_view(bytes).substr(0, size), 3).has_value()) << size;
    std::string far = bytes;
    far[0] = far[1] = far[2] = far[3] = '\xff';
    EXPECT_FALSE(unpack_all(far, 3).has_value());
}

// Whatever comes, it is refused or it is taken; the sanitizers watch.
TEST(run_message, random_bytes) {
    std::mt19937 random(4321);
    int refused = 0;
    int taken = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = printed(run_kind::done, static_cast<unsigned>(random()),
                                    pack_all({"a", std::string(random() % 100, 'b')}));
        for (unsigned i = random() % 3; i > 0; --i)
            bytes[random() % bytes.size()] = static_cast<char>(random());
        run_stream stream(100);
        try {
            stream.feed(bytes);
            while (const auto message = stream.next())
                taken += unpack_all(message->body, 2).has_value();
        } catch (const run_message_error &) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(taken, 1000);
}

} // namespace
} // namespace fult::comm::detail
