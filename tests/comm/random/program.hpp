// A random program, which all ranks derive from its seed: a sequence of contexts, each with some phases, each
// phase with acts that run concurrently. Each act has a seed of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fult/comm.hpp>

namespace fult::comm::testing {

struct scene;

// How a kind of act is run.
struct act_kind {
    const char *name;
    int endpoints;                                            // of its own
    endpoint_options (*endpoint)(scene &, std::uint64_t act); // how each is made; null: as by default
    void (*begin)(scene &);                                   // starts its actors on this rank
    void (*end)(scene &);                                     // when all actors have ended; may be null
    void (*after)(scene &) = nullptr; // when the survivors of the context have gone on; may be null
};

// All of them; the parts of the list are a file each.
std::span<const act_kind> stream_acts();
std::span<const act_kind> wildcard_acts();
std::span<const act_kind> delivery_acts();
std::span<const act_kind> collective_acts();
std::span<const act_kind> one_sided_acts();
std::span<const act_kind> fork_acts();
std::span<const act_kind> transfer_acts();
std::span<const act_kind> c_stream_acts(); // by fult/comm.h
std::span<const act_kind> c_collective_acts();
std::span<const act_kind> c_one_sided_acts();
std::span<const act_kind> c_delivery_acts();

struct act_plan {
    const act_kind *kind;
    std::uint64_t seed;
    unsigned device;
};

struct phase_plan {
    std::vector<act_plan> acts;
    bool barrier;        // before it
    int victim = -1;     // the rank that fails meanwhile
    bool silent = false; // it stops, and goes on when it counts as failed; else it is killed
    int stopped = -1;    // the rank that is stopped for a while
    bool slow = false;   // some ranks compute
    std::uint64_t seed = 0;
};

// The rank that stops and continues the stopped one.
constexpr int stopper(const phase_plan &p, int ranks) { return p.stopped < 0 ? -1 : (p.stopped + 1) % ranks; }
// The rank that continues a silent victim.
constexpr int waker(const phase_plan &p, int ranks) { return (p.victim + 1) % ranks; }

struct context_plan {
    comm::options options;
    bool in_c = false; // begun by fult_comm_init, where a process is one rank
    std::vector<phase_plan> phases;
};

struct program {
    std::uint64_t seed;
    int ranks;
    std::vector<context_plan> contexts;
};

// What goes wrong on purpose.
struct fault_plan {
    bool kill = false;
    bool silent = false; // over networks: a rank stops, is taken for dead, and goes on
    bool stop = false;
    bool slow = false;
    bool scarce = false; // few and small packets, little room for unexpected messages
    bool fds = false;    // few descriptors for the runtime and the context
};

// `only`: the one kind of act to be used; empty: all.
program make_program(std::uint64_t seed, int ranks, const fault_plan &faults, const comm::options &base,
                     const std::string &only);

} // namespace fult::comm::testing
