// The messages by which ranks detect that all of them wait.
#pragma once

#include <cstdint>

namespace fult::comm::detail {

enum class probe : std::uint64_t {
    ask = 1,  // request: is the other rank idle?
    idle,     // answer: it is idle, with its message counts
    busy,     // answer: it is busy; idle_now follows once it is idle
    idle_now, // it was busy when asked, and is idle now
    report,   // all ranks wait: write the report of your tasks
    reported, // the report is written
    end       // all reports are written: end the program, if FULT_DEADLOCK demands it
};
inline constexpr std::uint64_t probe_kinds = static_cast<std::uint64_t>(probe::end) + 1;

struct probe_body {
    std::uint64_t kind = 0; // one of enum probe
    std::uint64_t wave = 0; // number of the asker's wave; copied into the answer
    std::uint64_t sent = 0; // idle: records sent to ranks that have not failed
    std::uint64_t received = 0;
    std::uint64_t failed = 0;  // idle: the set of failed ranks, as a sum of random numbers
    std::uint64_t waiting = 0; // idle: 1 if the rank has not left; report: the number of such ranks
};
static_assert(sizeof(probe_body) == 48, "the wire format has no gaps");
static_assert(probe_kinds == 8);

inline probe_body make_probe(probe kind, std::uint64_t wave = 0) noexcept {
    return {static_cast<std::uint64_t>(kind), wave, 0, 0, 0, 0};
}

// Receives probes, under a device's lock.
class probe_listener {
  public:
    virtual void handle_probe(int from, const probe_body &body) noexcept = 0;
    virtual void handle_departure() noexcept = 0; // failed or left

  protected:
    ~probe_listener() = default;
};

// Number of records that a device has sent to and received from ranks that have not failed.
struct device_traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    bool is_calm = false; // nothing can proceed without a message
};

} // namespace fult::comm::detail
