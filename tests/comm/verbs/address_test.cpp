// Addresses and greetings, from ranks and from strangers.
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "comm/verbs/address.hpp"

namespace {

using namespace fult::comm::detail;

verbs_address some_address() {
    verbs_address a;
    std::strcpy(a.network, "roce2");
    for (std::size_t i = 0; i < sizeof a.gid.raw; ++i)
        a.gid.raw[i] = static_cast<std::uint8_t>(i * 17);
    a.token = 0x0123456789abcdef;
    a.qp_number = 0xabcdef;
    a.qkey = 0x7fffffff;
    a.lid = 12;
    a.mtu = IBV_MTU_4096;
    return a;
}

TEST(verbs_addresses, arrive_as_they_were) {
    const verbs_address sent = some_address();
    const std::string text = to_text(sent);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
    const auto got = parse_verbs_address(text);
    ASSERT_TRUE(got);
    EXPECT_EQ(std::memcmp(&*got, &sent, sizeof sent), 0);
    EXPECT_EQ(maker_of(text), "verbs");
}

TEST(verbs_addresses, others_are_refused) {
    const std::string text = to_text(some_address());
    EXPECT_FALSE(parse_verbs_address(""));
    EXPECT_FALSE(parse_verbs_address(text + "00"));
    EXPECT_FALSE(parse_verbs_address(text.substr(2)));
    EXPECT_FALSE(parse_verbs_address(text.substr(0, text.size() - 2)));
    EXPECT_FALSE(parse_verbs_address("6e6574006161")); // of libfabric's provider `net`
    EXPECT_EQ(maker_of("6e6574006161"), "net");
    verbs_address wrong = some_address();
    wrong.qp_number = 1 << number_bits;
    EXPECT_FALSE(parse_verbs_address(to_text(wrong)));
    wrong = some_address();
    wrong.mtu = IBV_MTU_4096 + 1;
    EXPECT_FALSE(parse_verbs_address(to_text(wrong)));
}

constexpr std::uint64_t token_of_rank = 0xfeedfacecafebeef;

greeting some_greeting() {
    greeting g;
    g.token = token_of_rank;
    g.rank = 1;
    g.qp_number = 17;
    g.psn = 0xffffff;
    return g;
}

auto greeting_of(const greeting &g) {
    return parse_greeting(std::as_bytes(std::span(&g, 1)), token_of_rank, 3, 0);
}

TEST(greetings, of_ranks_are_accepted) {
    for (const auto what : {greeting_kind::ask, greeting_kind::confirm}) {
        greeting g = some_greeting();
        g.kind = what;
        const auto got = greeting_of(g);
        ASSERT_TRUE(got);
        EXPECT_EQ(std::memcmp(&*got, &g, sizeof g), 0);
    }
}

// Each of them has one defect.
TEST(greetings, of_strangers_are_refused) {
    const auto refused = [](auto change) {
        greeting g = some_greeting();
        change(g);
        return !greeting_of(g);
    };
    EXPECT_TRUE(refused([](greeting &g) { g.magic ^= 1; }));
    EXPECT_TRUE(refused([](greeting &g) { g.token ^= 1; }));
    EXPECT_TRUE(refused([](greeting &g) { g.kind = static_cast<greeting_kind>(0); }));
    EXPECT_TRUE(refused([](greeting &g) { g.kind = static_cast<greeting_kind>(3); }));
    EXPECT_TRUE(refused([](greeting &g) { g.rank = 3; }));
    EXPECT_TRUE(refused([](greeting &g) { g.rank = 0; })); // the receiver itself
    EXPECT_TRUE(refused([](greeting &g) { g.rank = ~0U; }));
    EXPECT_TRUE(refused([](greeting &g) { g.qp_number = 1 << number_bits; }));
    EXPECT_TRUE(refused([](greeting &g) { g.psn = 1 << number_bits; }));
}

TEST(greetings, of_other_sizes_are_refused) {
    const greeting g = some_greeting();
    std::vector<std::byte> bytes(2 * sizeof g);
    std::memcpy(bytes.data(), &g, sizeof g);
    for (std::size_t size = 0; size <= bytes.size(); ++size)
        EXPECT_EQ(parse_greeting(std::span(bytes).first(size), token_of_rank, 3, 0).has_value(),
                  size == sizeof g);
}

TEST(greetings, of_random_bytes_are_refused) {
    std::mt19937 random(1);
    for (int i = 0; i < 10000; ++i) {
        std::byte bytes[sizeof(greeting)];
        for (std::byte &each : bytes)
            each = static_cast<std::byte>(random());
        EXPECT_FALSE(parse_greeting(bytes, token_of_rank, 3, 0));
    }
}

} // namespace
