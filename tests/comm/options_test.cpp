// The environment variables of fult-comm, as read_options takes them.
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "comm/option_table.hpp"

namespace {

using fult::comm::options;
using fult::comm::read_options;
using fult::comm::detail::comm_option_row;
using fult::comm::detail::comm_option_table;

struct comm_options : ::testing::Test {
    void SetUp() override {
        for (const comm_option_row &row : comm_option_table())
            ::unsetenv(row.variable);
    }
    void TearDown() override { SetUp(); }
};

TEST_F(comm_options, empty_variables_count_as_unset) {
    for (const comm_option_row &row : comm_option_table())
        ::setenv(row.variable, "", 1);
    const options read = read_options();
    for (const comm_option_row &row : comm_option_table()) {
        EXPECT_EQ(row.print(read), row.print(options())) << row.variable;
        EXPECT_EQ(fult::comm::detail::in_environment(row), nullptr) << row.variable;
    }
}

TEST_F(comm_options, a_refused_value_is_named) {
    ::setenv("FULT_COMM_TIMEOUT", "soon", 1);
    try {
        read_options();
        ADD_FAILURE() << "'soon' is accepted";
    } catch (const std::invalid_argument &error) {
        EXPECT_NE(std::string(error.what()).find("FULT_COMM_TIMEOUT='soon'"), std::string::npos)
            << error.what();
    }
}

} // namespace
