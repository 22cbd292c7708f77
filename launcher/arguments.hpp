#pragma once

#include <optional>
#include <string>
#include <vector>

// The command line of fult-run.
namespace fult::run {

struct arguments {
    int ranks = 0;
    bool prefix = false;     // "[2] " before each line of rank 2
    bool bind = true;        // each rank gets its share of the processors, and may bind its workers
    bool keep_going = false; // other ranks continue when one fails
    int input = 0;           // the rank that reads standard input, or -1
    std::vector<std::string> command;
};

// The status to end with: after an error, --help, --version. Nothing where the job is to run.
std::optional<int> read_arguments(std::vector<std::string> words, arguments &into);

} // namespace fult::run
