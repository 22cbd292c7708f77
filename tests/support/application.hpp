// The reader of command lines of an application with several versions, called with words.
#pragma once

#include <gtest/gtest.h>
#include <initializer_list>
#include <optional>
#include <string>

#include "apps/support/version.hpp"
#include "tests/support/command_line.hpp"

namespace fult::testing {

template <class Wanted> struct application {
    const char *name;
    std::optional<int> (*reader)(int argc, const char *const *argv, apps::version of, Wanted &into);

    reading<Wanted> read(std::initializer_list<const char *> words,
                         apps::version of = apps::version::tasks) const {
        return read_words<Wanted>(name, words, [&](int argc, const char *const *argv, Wanted &into) {
            return reader(argc, argv, of, into);
        });
    }

    void expect_refused(std::initializer_list<const char *> words, const std::string &error,
                        apps::version of = apps::version::tasks) const {
        const reading<Wanted> out = read(words, of);
        EXPECT_EQ(out.status, 2);
        EXPECT_EQ(out.error, apps::program_name(name, of) + ": " + error + "; --help lists the options\n");
    }

    // Each version has help, and the one with tasks alone has workers.
    void expect_help_of_versions() const {
        for (const apps::version of :
             {apps::version::serial, apps::version::tasks, apps::version::processes}) {
            const reading<Wanted> out = read({"--help"}, of);
            expect_help(out);
            EXPECT_EQ(out.output.find("--workers") != out.output.npos, of == apps::version::tasks)
                << out.output;
        }
    }
};

} // namespace fult::testing
