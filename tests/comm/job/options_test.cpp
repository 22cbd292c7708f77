// The options of fult-comm, from the environment and from code.
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include "comm/job/option_table.hpp"

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
        EXPECT_EQ(fult::detail::environment_value(row), nullptr) << row.variable;
    }
}

TEST_F(comm_options, the_defaults_of_the_table_are_those_of_the_struct) {
    for (const comm_option_row &row : comm_option_table()) {
        options from_text;
        EXPECT_TRUE(row.parse(from_text, row.default_text())) << row.variable;
        EXPECT_TRUE(row.valid(from_text)) << row.variable;
        EXPECT_EQ(row.print(from_text), row.print(options())) << row.variable;
    }
}

TEST_F(comm_options, values_are_read) {
    ::setenv("FULT_COMM_PACKET_SIZE", "1M", 1);
    ::setenv("FULT_COMM_UNEXPECTED", "1024G", 1);
    ::setenv("FULT_COMM_SERVER", "dedicated", 1);
    ::setenv("FULT_COMM_NETWORK", "tcp", 1);
    ::setenv("FULT_COMM_GATHER", "off", 1);
    const options read = read_options();
    EXPECT_EQ(read.packet_size, 1u << 20);
    EXPECT_EQ(read.unexpected, std::size_t{1} << 40);
    EXPECT_EQ(read.progress, fult::comm::progress_policy::dedicated);
    EXPECT_EQ(read.network, "tcp");
    EXPECT_FALSE(read.gather);
}

TEST_F(comm_options, a_size_may_be_automatic) {
    EXPECT_EQ(read_options().packet_size, 0u);
    ::setenv("FULT_COMM_PACKET_SIZE", "auto", 1);
    EXPECT_EQ(read_options().packet_size, 0u);
}

TEST_F(comm_options, values_out_of_range_are_refused_with_the_range) {
    const struct {
        const char *variable, *text, *remedy;
    } bad[] = {
        {"FULT_COMM_SHARED_MEMORY", "1023K", "must be a size from 1M to 1T, such as 268435456 or 256M"},
        {"FULT_COMM_SERVER", "server", "must be auto, workers or dedicated"},
        {"FULT_COMM_DEVICES", "0", "must be a number from 1 to 8"},
        {"FULT_COMM_DEVICES", "9", "must be a number from 1 to 8"},
        {"FULT_COMM_DEVICES", "4294967297", "must be a number from 1 to 8"},
        {"FULT_COMM_PACKET_SIZE", "255", "must be a size from 256 to 1M, such as 8192 or 8K, or auto"},
        {"FULT_COMM_PACKET_SIZE", "0", "or auto"},
        {"FULT_COMM_PACKETS", "7", "must be a number from 8 to 1M, such as 1024 or 1K"},
        {"FULT_COMM_RENDEZVOUS", "2G", "must be a size from 0 to 1G"},
        {"FULT_COMM_UNEXPECTED", "2T", "must be a size from 64K to 1T"},
        {"FULT_COMM_GATHER", "maybe", "must be on or off"},
        {"FULT_COMM_TIMEOUT", "86401", "must be seconds from 1 to 86400"},
        {"FULT_COMM_HEARTBEAT", "0", "must be seconds from 1 to 3600"},
    };
    for (const auto &each : bad) {
        SetUp();
        ::setenv(each.variable, each.text, 1);
        try {
            read_options();
            ADD_FAILURE() << each.variable << "='" << each.text << "' is accepted";
        } catch (const std::invalid_argument &error) {
            EXPECT_NE(std::string(error.what()).find(each.remedy), std::string::npos) << error.what();
        }
    }
}

TEST_F(comm_options, options_set_by_code_are_checked_at_the_start) {
    using fult::comm::progress_policy;
    const auto refused = [](auto change, const char *expected) {
        options o;
        change(o);
        try {
            const fult::comm::context net(o);
            ADD_FAILURE() << expected << " is accepted";
        } catch (const std::invalid_argument &error) {
            EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
        }
    };
    refused([](options &o) { o.shared_memory = 1023 << 10; }, "FULT_COMM_SHARED_MEMORY='1047552'");
    refused([](options &o) { o.progress = static_cast<progress_policy>(3); }, "FULT_COMM_SERVER='3'");
    refused([](options &o) { o.devices = 0; }, "must be a number from 1 to 8");
    refused([](options &o) { o.devices = 9; }, "FULT_COMM_DEVICES='9'");
    refused([](options &o) { o.packet_size = 255; }, "must be a size from 256 to 1M");
    refused([](options &o) { o.packets = 7; }, "FULT_COMM_PACKETS='7'");
    refused([](options &o) { o.rendezvous = (std::size_t{1} << 30) + 1; }, "FULT_COMM_RENDEZVOUS");
    refused([](options &o) { o.unexpected = 0; }, "FULT_COMM_UNEXPECTED='0'");
    refused([](options &o) { o.timeout = 0; }, "must be seconds from 1 to 86400");
    refused([](options &o) { o.size = sizeof(options) + 8; },
            "compile the program with the headers of the library");
    refused([](options &o) { o.heartbeat = 3601; }, "FULT_COMM_HEARTBEAT='3601'");
    EXPECT_THROW(fult::comm::context{options()}, std::logic_error) << "valid, but there is no runtime";
}

TEST_F(comm_options, a_refused_value_leaves_the_options_as_they_are) {
    for (const comm_option_row &row : comm_option_table())
        if (std::string(row.variable) == "FULT_COMM_DEVICES") {
            options o;
            o.devices = 2;
            EXPECT_THROW(fult::detail::set_option(row, o, "9", "it"), std::invalid_argument);
            EXPECT_EQ(o.devices, 2u);
            fult::detail::set_option(row, o, "8", "it");
            EXPECT_EQ(o.devices, 8u);
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
