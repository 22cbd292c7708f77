// What ranks say to each other to find out whether all of them wait.
#pragma once

#include <cstdint>

namespace fult::comm::detail {

enum class probe : std::uint64_t {
    ask = 1,  // whether the other rank is idle
    idle,     // the answer: it is, and so much it has sent and received
    busy,     // the answer: it is not; idle_now follows once it is
    idle_now, // it was busy when asked, and is idle now
    report,   // all ranks wait: write what your tasks wait for
    reported, // that is done
    end       // all have done so: the program ends here, where FULT_DEADLOCK says so
};
inline constexpr std::uint64_t probe_kinds = static_cast<std::uint64_t>(probe::end) + 1;

struct probe_body {
    std::uint64_t what = 0; // a probe
    std::uint64_t wave = 0; // the asker's number of it; in an answer that of the question
    std::uint64_t sent = 0; // idle: records to ranks that have not failed
    std::uint64_t received = 0;
    std::uint64_t failed = 0; // idle: which ranks those are, as a sum of random numbers
    std::uint64_t waits = 0;  // idle: 1 where it has not left; report: how many have not
};

inline probe_body make_probe(probe what, std::uint64_t wave = 0) noexcept {
    return {static_cast<std::uint64_t>(what), wave, 0, 0, 0, 0};
}

// Hears of them, under a device's lock.
class probe_listener {
  public:
    virtual void probe_came(int from, const probe_body &body) noexcept = 0;
    virtual void rank_has_gone() noexcept = 0; // failed or left

  protected:
    ~probe_listener() = default;
};

// What a device has sent to and received from ranks that have not failed, in records.
struct device_traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    bool is_calm = false; // nothing goes on that needs no message to go on
};

} // namespace fult::comm::detail
