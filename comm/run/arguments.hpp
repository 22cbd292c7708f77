#pragma once

#include <stdexcept>
#include <string>
#include <vector>

// The command line of fult-run.
namespace fult::run {

// Describes the error; main() adds where to read more.
class usage_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct arguments {
    int ranks = 0;
    bool prefix = false;     // "[2] " before each line of rank 2
    bool bind = true;        // each rank is bound to its share of the processors
    bool keep_going = false; // other ranks continue when one fails
    int input = 0;           // the rank that reads standard input, or -1
    bool help = false;
    bool version = false;
    std::vector<std::string> command;
};

// Throws usage_error.
arguments read_arguments(const std::vector<std::string> &words);

extern const char *const help_text;

} // namespace fult::run
