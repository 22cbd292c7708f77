// Mutexes of the library. A fork holds all of them, so that none is held in the child by a thread that does
// not exist there.
#pragma once

#include <mutex>

#include "blocks.hpp"

namespace fult::omp {

// What they protect. A fork takes them in this order, and so does a thread that takes several.
enum class shared_state : unsigned {
    holders,       // of workers (holders.cpp)
    runtime,       // its start and end (threads.cpp)
    threadprivate, // clang's descriptions of these variables
    teams,         // those that are in no use
    control_sets,  // of control variables
    thread_states, // of foreign threads that have ended
    blocks,        // free ones, of the first class; the other classes follow
    end = blocks + block_classes
};

std::mutex &mutex_of(shared_state s) noexcept;

} // namespace fult::omp
