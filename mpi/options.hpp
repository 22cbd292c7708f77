// FULT_MPI_*: the options of the layer.
#pragma once

namespace fult::mpi {

struct options {
    unsigned poll_pause = 1000; // the longest pause between two polls, in microseconds; 0: none
    unsigned report_after = 0;  // without an event of MPI, in seconds; 0: never
    bool statistics = false;    // printed at the end of MPI
};

// Of the environment. What is wrong there is reported on standard error by the first call.
const options &the_options() noexcept;

} // namespace fult::mpi
