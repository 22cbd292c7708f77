// The frame of a main function: the command line, then the work, with a report of its failure.
#pragma once

#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace apps {

// `read` fills in what the user wants, and returns the exit status if the program is not to run; `start` runs
// it. Returns the exit status: 1 after an exception.
template <class Wanted, class Read, class Start>
int run_program(const std::string &name, const Read &read, const Start &start) {
    Wanted wanted;
    if (const std::optional<int> status = read(wanted))
        return *status;
    try {
        return start(wanted);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
        return 1;
    }
}

} // namespace apps
