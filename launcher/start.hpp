#pragma once

#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "launcher/guardian.hpp"

// Starts a rank as a process.
namespace fult::run {

// The program cannot be run; `status` is a shell's exit status for that.
class start_error : public std::runtime_error {
  public:
    start_error(const std::string &what, int code) : std::runtime_error(what), status(code) {}
    int status;
};

// State that fult-run changed for itself and restores in each rank.
struct original_state {
    sigset_t mask{};
    struct sigaction pipe_signal {};
    rlimit files{};
};

struct start_order {
    const std::vector<std::string> &command;
    const std::string &job;
    const original_state &before;
    const guardian &guard;
    int rank;
    int ranks;
    int input;                          // becomes its standard input
    const std::vector<int> &processors; // empty: all
    bool shares_processors;             // with other ranks: there are too few
    bool unbound;                       // --no-bind: the rank binds no worker either
};

struct started {
    pid_t process; // also its process group
    int socket;    // its bootstrap connection
    int output;    // its standard output: non-blocking
    int error;
};

// Throws start_error, std::system_error.
started start_rank(const start_order &order);

} // namespace fult::run
