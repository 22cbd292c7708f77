#include <gtest/gtest.h>

#include "fult/base/suggestion.hpp"

namespace {

using fult::detail::edit_distance;
using fult::detail::suggestion;

TEST(suggestion, counts_edits) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("bind", "bind"), 0u);
    EXPECT_EQ(edit_distance("bnid", "bind"), 2u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(suggestion, asks_about_the_closest_name) {
    suggestion meant("FULT_WORKER");
    EXPECT_EQ(meant.question(), "");
    meant.consider("FULT_ORDER");
    meant.consider("FULT_WORKERS");
    meant.consider("FULT_STEALING");
    EXPECT_EQ(meant.question(), "did you mean FULT_WORKERS? ");
}

TEST(suggestion, asks_about_none_that_is_far_away) {
    suggestion meant("FULT_COLOUR");
    meant.consider("FULT_WORKERS");
    EXPECT_EQ(meant.question(), "");
}

} // namespace
