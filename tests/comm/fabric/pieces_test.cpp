// Transfers in pieces: what is with the provider, and when a transfer is over.
#include <gtest/gtest.h>

#include "comm/fabric/pieces.hpp"

namespace {

using namespace fult::comm::detail;

transfer transfer_of(std::size_t size) {
    transfer t;
    t.size = size;
    return t;
}

TEST(pieces, that_move_bytes_are_a_sign_of_life) {
    rank_transfers with;
    with.count_begin(10);
    EXPECT_FALSE(with.advanced);
    with.count_end(10, true);
    EXPECT_TRUE(with.advanced);
    with.count_begin(10);
    with.count_end(10, false); // takes back no earlier sign
    EXPECT_TRUE(with.advanced);
}

TEST(pieces, that_fail_are_none) {
    rank_transfers with;
    for (int i = 0; i < 3; ++i)
        with.count_begin(10);
    for (int i = 0; i < 3; ++i)
        with.count_end(10, false);
    EXPECT_FALSE(with.advanced);
    EXPECT_EQ(with.active, 0U);
    EXPECT_EQ(with.active_bytes, 0U);
}

TEST(pieces, end_their_transfer_together) {
    transfer t = transfer_of(max_piece + 1);
    piece_state state(t);
    state.start(false);
    EXPECT_EQ(state.next_size(), max_piece);
    state.begin(state.next_size());
    EXPECT_FALSE(state.is_begun());
    EXPECT_EQ(state.next_size(), 1U);
    state.begin(1);
    EXPECT_TRUE(state.is_begun());
    state.end(1, true);
    EXPECT_FALSE(state.is_over());
    state.end(max_piece, true);
    EXPECT_TRUE(state.is_over());
    EXPECT_FALSE(state.has_failed());
}

// The others that were begun still end: their memory is in use until then.
TEST(pieces, one_of_which_fails_begin_no_more) {
    transfer t = transfer_of(3 * max_piece);
    piece_state state(t);
    state.start(true);
    state.begin(max_piece);
    state.begin(max_piece);
    state.end(max_piece, false);
    EXPECT_TRUE(state.is_begun());
    EXPECT_FALSE(state.is_over());
    state.end(max_piece, true);
    EXPECT_TRUE(state.is_over());
    EXPECT_TRUE(state.has_failed());
}

} // namespace
