// Prints a rank's view of its bootstrap. usage: bootstrap_probe [what [argument]]
//
//   (nothing)     two exchanges, one with lengths from 0 to 5000, and barriers; "rank R of N by NAME: ok"
//   abort N       the last rank aborts with status N, the others wait in a barrier
//   late MS       the last rank never calls a barrier; the others time out after MS milliseconds
//   mismatch      rank 0 calls a barrier, the others an exchange
//   barrier N     N barriers
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <unistd.h>
#include <vector>

#include "comm/bootstrap/bootstrap.hpp"

namespace {

using fult::comm::detail::bootstrap;

// Bytes that depend on rank and round, zeros among them.
std::string contribution(int rank, int round, std::size_t length) {
    std::string bytes(length, '\0');
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] =
            static_cast<char>(i * 31 + static_cast<std::size_t>(rank) * 7 + static_cast<std::size_t>(round));
    return bytes;
}

std::size_t length_of(int rank, int round) {
    constexpr std::size_t lengths[] = {17, 0, 5000, 1, 763, 2, 256};
    return lengths[static_cast<std::size_t>(rank + round) % std::size(lengths)];
}

int exchange_all(bootstrap &job) {
    for (int round = 0; round < 3; ++round) {
        const auto all = job.exchange(contribution(job.rank(), round, length_of(job.rank(), round)));
        if (all.size() != static_cast<std::size_t>(job.size())) {
            std::printf("rank %d: %zu parts\n", job.rank(), all.size());
            return 1;
        }
        for (int rank = 0; rank < job.size(); ++rank)
            if (all[static_cast<std::size_t>(rank)] != contribution(rank, round, length_of(rank, round))) {
                std::printf("rank %d: other bytes from rank %d in round %d\n", job.rank(), rank, round);
                return 1;
            }
        job.barrier();
    }
    std::printf("rank %d of %d by %s: ok\n", job.rank(), job.size(), job.name());
    return 0;
}

int run(const std::string &what, int argument) {
    const std::chrono::milliseconds timeout = what == "late"
                                                  ? std::chrono::milliseconds(argument) // time: a lower bound
                                                  : std::chrono::hours(24); // time: given, never reached
    const auto job = fult::comm::detail::connect_bootstrap(timeout);
    const bool last = job->rank() == job->size() - 1;
    if (what.empty())
        return exchange_all(*job);
    if (what == "barrier") {
        for (int i = 0; i < argument; ++i)
            job->barrier();
    } else if (what == "abort") {
        if (last)
            job->abort(argument, "this is a test");
        job->barrier();
    } else if (what == "late") {
        if (last)
            ::pause();
        job->barrier();
    } else if (what == "mismatch") {
        if (job->rank() == 0)
            job->barrier();
        else
            job->exchange("bytes");
    } else {
        std::fprintf(stderr, "bootstrap_probe: '%s'?\n", what.c_str());
        return 2;
    }
    return 0;
}

} // namespace

int main(int count, char **words) {
    try {
        return run(count > 1 ? words[1] : "", count > 2 ? std::atoi(words[2]) : 0);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 9;
    }
}
