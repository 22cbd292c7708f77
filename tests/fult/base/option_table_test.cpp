#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include <fult/runtime.hpp>

#include "fult/base/option_table.hpp"
#include "tests/support/support.hpp"

extern char **environ;

namespace {

using namespace fult;

struct option_table_test : ::testing::Test {
    std::map<std::string, std::string> before;
    option_table_test() {
        for (char **each = environ; *each; ++each) {
            const std::string entry = *each;
            if (entry.starts_with("FULT_"))
                before[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
        }
        clear();
    }
    ~option_table_test() override {
        clear();
        for (const auto &[name, value] : before)
            ::setenv(name.c_str(), value.c_str(), 1);
    }
    void clear() {
        for (const auto &row : detail::option_table())
            ::unsetenv(row.variable);
        ::unsetenv("FULT_WROKERS");
    }
    static void set(const char *variable, const char *value) { ::setenv(variable, value, 1); }

    static std::string printed(const char *variable, const options &o) {
        for (const auto &row : detail::option_table())
            if (std::string(row.variable) == variable)
                return row.print(o);
        return "no such row";
    }
};

TEST_F(option_table_test, the_defaults_of_the_table_are_those_of_the_struct) {
    for (const auto &row : detail::option_table()) {
        options from_text;
        EXPECT_TRUE(row.parse(from_text, row.default_text())) << row.variable;
        EXPECT_TRUE(row.valid(from_text)) << row.variable;
        EXPECT_EQ(row.print(from_text), row.print(options{})) << row.variable;
        EXPECT_FALSE(detail::environment_value(row)) << row.variable;
        EXPECT_NE(std::string(row.help), "");
    }
}

TEST_F(option_table_test, values_are_read) {
    const struct {
        const char *variable, *text, *printed;
    } good[] = {
        {"FULT_WORKERS", "3", "3"},
        {"FULT_WORKERS", "0", "0"},
        {"FULT_WORKERS", "1024", "1024"},
        {"FULT_BIND", "auto", "auto"},
        {"FULT_BIND", "off", "off"},
        {"FULT_BIND", "1", "on"},
        {"FULT_BIND", "no", "off"},
        {"FULT_BIND", "true", "on"},
        {"FULT_STACK_SIZE", "16384", "16384"},
        {"FULT_STACK_SIZE", "16K", "16384"},
        {"FULT_STACK_SIZE", "64k", "65536"},
        {"FULT_STACK_SIZE", "2M", "2097152"},
        {"FULT_STACK_SIZE", "2097152", "2097152"},
        {"FULT_STACK_SIZE", "1G", "1073741824"},
        {"FULT_STACK_SIZE", "1073741824", "1073741824"},
        {"FULT_STACKS_KEPT", "0", "0"},
        {"FULT_STACKS_KEPT", "5", "5"},
        {"FULT_GUARD", "madvise", "madvise"},
        {"FULT_GUARD", "mprotect", "mprotect"},
        {"FULT_GUARD", "off", "off"},
        {"FULT_MAX_TASKS", "64", "64"},
        {"FULT_MAX_TASKS", "8064K", "8257536"},
        {"FULT_STEALING", "off", "off"},
        {"FULT_PRIVATE_WORDS", "off", "off"},
        {"FULT_ORDER", "breadth", "breadth"},
        {"FULT_FP_ENV", "own", "own"},
        {"FULT_IDLE_SPIN", "1000000", "1000000"},
        {"FULT_BLOCKING_THREADS", "1", "1"},
    };
    for (const auto &each : good) {
        clear();
        set(each.variable, each.text);
        EXPECT_EQ(printed(each.variable, read_options()), each.printed) << each.variable << "=" << each.text;
    }
}

TEST_F(option_table_test, a_signal_may_have_its_prefix) {
    const struct {
        const char *text;
        int number;
    } names[] = {{"USR2", SIGUSR2}, {"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"SIGQUIT", SIGQUIT}};
    for (const auto &each : names) {
        clear();
        set("FULT_DUMP_SIGNAL", each.text);
        EXPECT_EQ(read_options().dump_signal, each.number) << each.text;
    }
}

TEST_F(option_table_test, every_bad_value_is_named_with_its_variable_and_what_it_may_be) {
    const struct {
        const char *variable, *text, *remedy;
    } bad[] = {
        {"FULT_WORKERS", "many", "0 to 1024"},
        {"FULT_WORKERS", "-1", "0 to 1024"},
        {"FULT_WORKERS", "1025", "0 to 1024"},
        {"FULT_WORKERS", "2 ", "0 to 1024"},
        {"FULT_WORKERS", "4294967297", "0 to 1024"},
        {"FULT_WORKERS", "99999999999999999999999", "0 to 1024"},
        {"FULT_BIND", "maybe", "auto, on or off"},
        {"FULT_STACK_SIZE", "8K", "16K to 1G"},
        {"FULT_STACK_SIZE", "2G", "16K to 1G"},
        {"FULT_STACK_SIZE", "K", "16K to 1G"},
        {"FULT_STACK_SIZE", "1T", "16K to 1G"},
        {"FULT_STACK_SIZE", "-4K", "16K to 1G"},
        {"FULT_STACKS_KEPT", "few", "number"},
        {"FULT_GUARD", "on", "auto, madvise"},
        {"FULT_MAX_TASKS", "63", "64 to 8064K"},
        {"FULT_MAX_TASKS", "8257537", "64 to 8064K"},
        {"FULT_MAX_TASKS", "99999999999G", "64 to 8064K"},
        {"FULT_STEALING", "2", "on or off"},
        {"FULT_PRIVATE_WORDS", "x", "on or off"},
        {"FULT_ORDER", "first", "depth or breadth"},
        {"FULT_FP_ENV", "on", "shared or own"},
        {"FULT_IDLE_SPIN", "1000001", "0 to 1000000"},
        {"FULT_BLOCKING_THREADS", "0", "1 to 65536"},
        {"FULT_TRIM_AFTER", "3600001", "0 to 3600000"},
        {"FULT_DEADLOCK", "on", "report, abort or off"},
        {"FULT_DUMP_SIGNAL", "9", "USR1"},
        {"FULT_DUMP_SIGNAL", "4294967306", "USR1"},
        {"FULT_DUMP_SIGNAL", "KILL", "USR1"},
        {"FULT_DUMP_SIGNAL", "SIGKILL", "USR1"},
        {"FULT_SPAWN_SITES", "2", "on or off"},
    };
    for (const auto &each : bad) {
        clear();
        set(each.variable, each.text);
        try {
            read_options();
            ADD_FAILURE() << each.variable << "='" << each.text << "' is accepted";
        } catch (const std::invalid_argument &error) {
            const std::string said = error.what();
            EXPECT_NE(said.find(each.variable), std::string::npos) << said;
            EXPECT_NE(said.find(each.remedy), std::string::npos) << said;
        }
    }
}

TEST_F(option_table_test, numbers_may_have_a_unit) {
    const struct {
        const char *text;
        std::size_t value;
        const char *brief;
    } good[] = {{"0", 0, "0"},
                {"1023", 1023, "1023"},
                {"1k", 1024, "1K"},
                {"8064K", 8064 * 1024, "8064K"},
                {"3M", 3 << 20, "3M"},
                {"1024G", std::size_t{1} << 40, "1T"},
                {"1T", std::size_t{1} << 40, "1T"},
                {"16777215T", 16777215 * (std::size_t{1} << 40), "16777215T"}};
    for (const auto &each : good) {
        std::size_t value = 1;
        EXPECT_TRUE(detail::parse_number(each.text, value)) << each.text;
        EXPECT_EQ(value, each.value) << each.text;
        EXPECT_EQ(detail::short_form(value), each.brief);
    }
    for (const char *bad : {"", "K", "-1", "+1", " 1", "1 ", "1KK", "1.5K", "0x10", "16777216T"}) {
        std::size_t value = 1;
        EXPECT_FALSE(detail::parse_number(bad, value)) << bad;
    }
}

TEST_F(option_table_test, values_are_described_from_their_ranges) {
    const std::map<std::string, std::string> requirement = {
        {"FULT_WORKERS", "a number from 0 to 1024"},
        {"FULT_STACK_SIZE", "a size from 16K to 1G, such as 262144 or 256K"},
        {"FULT_STACKS_KEPT", "a number"},
        {"FULT_GUARD", "auto, madvise, mprotect or off"},
        {"FULT_BIND", "auto, on or off"},
        {"FULT_TRIM_AFTER", "milliseconds from 0 to 3600000"},
        {"FULT_DUMP_SIGNAL", "off, USR1, USR2, QUIT, or the number of a real-time signal"},
    };
    std::size_t found = 0;
    for (const auto &row : detail::option_table())
        if (const auto expected = requirement.find(row.variable); expected != requirement.end()) {
            EXPECT_EQ(row.requirement(), expected->second) << row.variable;
            ++found;
        }
    EXPECT_EQ(found, requirement.size());
}

TEST_F(option_table_test, the_value_as_written_is_in_the_message) {
    set("FULT_ORDER", "sideways");
    try {
        read_options();
        ADD_FAILURE();
    } catch (const std::invalid_argument &error) {
        EXPECT_NE(std::string(error.what()).find("FULT_ORDER='sideways'"), std::string::npos) << error.what();
    }
}

TEST_F(option_table_test, options_set_by_code_are_checked_at_the_start) {
    const auto refused = [](auto change, const char *variable) {
        options o;
        o.workers = 1;
        change(o);
        try {
            const runtime r(o);
            ADD_FAILURE() << variable;
        } catch (const std::invalid_argument &error) {
            EXPECT_NE(std::string(error.what()).find(variable), std::string::npos) << error.what();
        }
    };
    refused([](options &o) { o.workers = 1025; }, "FULT_WORKERS");
    refused([](options &o) { o.stack_size = 1; }, "FULT_STACK_SIZE");
    refused([](options &o) { o.stack_size = std::size_t{2} << 30; }, "FULT_STACK_SIZE");
    refused([](options &o) { o.max_tasks = 0; }, "FULT_MAX_TASKS");
    refused([](options &o) { o.max_tasks = std::size_t{9} << 20; }, "FULT_MAX_TASKS");
    refused([](options &o) { o.stacks_kept = ~std::size_t{0}; }, "FULT_STACKS_KEPT");
    refused([](options &o) { o.idle_spin = ~0U; }, "FULT_IDLE_SPIN='4294967295'");
    refused([](options &o) { o.trim_after = ~0U; }, "FULT_TRIM_AFTER");
    refused([](options &o) { o.blocking_threads = 0; }, "FULT_BLOCKING_THREADS");
    refused([](options &o) { o.dump_signal = 9; }, "FULT_DUMP_SIGNAL");
    refused([](options &o) { o.dump_signal = -1; }, "FULT_DUMP_SIGNAL");
    refused([](options &o) { o.guard = static_cast<guard_mode>(4); }, "FULT_GUARD='4'");
    refused([](options &o) { o.order = static_cast<spawn_order>(-1); }, "FULT_ORDER");
    refused([](options &o) { o.fp_env = static_cast<fp_mode>(2); }, "FULT_FP_ENV");
    refused([](options &o) { o.size -= 8; }, "compile the program with the headers of the library");
    refused([](options &o) { o.deadlock = static_cast<deadlock_mode>(3); }, "FULT_DEADLOCK");
}

TEST_F(option_table_test, an_empty_variable_counts_as_unset) {
    for (const auto &row : detail::option_table()) {
        set(row.variable, "");
        EXPECT_FALSE(detail::environment_value(row)) << row.variable;
    }
    const options o = read_options();
    for (const auto &row : detail::option_table())
        EXPECT_EQ(row.print(o), row.print(options{})) << row.variable;
}

TEST_F(option_table_test, code_comes_before_the_environment) {
    set("FULT_WORKERS", "3");
    options o = read_options();
    EXPECT_EQ(o.workers, 3u);
    o.workers = 1;
    o.max_tasks = fult::testing::workers(1).max_tasks;
    const runtime r(o);
    EXPECT_EQ(r.effective_options().workers, 1u);
}

TEST_F(option_table_test, an_unknown_variable_is_warned_about) {
    set("FULT_WROKERS", "3");
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(read_options().workers, 0u);
    EXPECT_NE(
        ::testing::internal::GetCapturedStderr().find("FULT_WROKERS is unknown; did you mean FULT_WORKERS?"),
        std::string::npos);
}

} // namespace
