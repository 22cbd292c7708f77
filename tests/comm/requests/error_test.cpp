// errc as values of std::error_code, and the exception that carries them.
#include <gtest/gtest.h>
#include <system_error>

#include <fult/comm/status.hpp>

namespace {

using fult::comm::errc;

constexpr errc all[] = {errc::none,  errc::truncated, errc::peer_failed, errc::cancelled,
                        errc::retry, errc::refused,   errc::peer_left};

TEST(comm_error, an_errc_is_an_error_code) {
    for (const errc code : all) {
        const std::error_code as_code = code;
        EXPECT_EQ(as_code.category(), fult::comm::category());
        EXPECT_EQ(as_code, code);
        EXPECT_EQ(static_cast<bool>(as_code), code != errc::none);
        for (const errc other : all)
            EXPECT_EQ(as_code == other, code == other);
    }
}

TEST(comm_error, each_code_has_a_message_of_its_own) {
    for (const errc code : all)
        for (const errc other : all)
            EXPECT_EQ(make_error_code(code).message() == make_error_code(other).message(), code == other);
    EXPECT_EQ(std::error_code(99, fult::comm::category()).message(), "unknown error 99");
    EXPECT_STREQ(fult::comm::category().name(), "fult-comm");
}

TEST(comm_error, codes_are_equivalent_to_those_of_posix) {
    EXPECT_EQ(make_error_code(errc::truncated), std::errc::message_size);
    EXPECT_EQ(make_error_code(errc::cancelled), std::errc::operation_canceled);
    EXPECT_EQ(make_error_code(errc::retry), std::errc::resource_unavailable_try_again);
    EXPECT_EQ(make_error_code(errc::refused), std::errc::permission_denied);
    EXPECT_NE(make_error_code(errc::peer_left), std::errc::not_connected);
}

TEST(comm_error, an_error_is_caught_as_a_system_error_and_says_what_the_library_wrote) {
    try {
        throw fult::comm::error(errc::truncated, "fult-comm: recv: too long");
    } catch (const std::system_error &failure) {
        EXPECT_EQ(failure.code(), errc::truncated);
        EXPECT_STREQ(failure.what(), "fult-comm: recv: too long");
        return;
    }
}

TEST(comm_error, a_copy_says_the_same) {
    const fult::comm::error first(errc::peer_left, "first");
    fult::comm::error second(errc::retry, "second");
    second = first;
    EXPECT_EQ(second.code(), errc::peer_left);
    EXPECT_STREQ(second.what(), "first");
}

} // namespace
