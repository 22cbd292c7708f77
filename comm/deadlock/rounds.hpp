// Whether all ranks wait for each other: Mattern's four counters ("Algorithms for distributed termination
// detection", Distributed Computing 2, 1987). One rank asks all others twice. Where each is idle both times,
// and what all have sent is what all have received, both times, no message was under way between the two
// waves; and only a message could have made a rank go on. tests/model/idle.pml
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "comm/deadlock/probe.hpp"

namespace fult::comm::detail {

// A rank as it finds itself.
struct rank_look {
    bool is_idle = false;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t failed = 0;
    bool has_left = false; // idle, but it waits for nobody
};

// What the rounds stand on. Called by rounds alone.
class deadlock_ground {
  public:
    virtual rank_look look() noexcept = 0;
    virtual void send(int rank, const probe_body &body) noexcept = 0; // reliable, but to ranks that fail
    virtual bool has_failed(int rank) const noexcept = 0;
    virtual bool has_left(int rank) const noexcept = 0; // or failed; it has no tasks that wait for others
    // `waiting`: how many ranks have neither left nor failed. Waits until the report is written.
    virtual void report(int waiting) noexcept = 0;
    virtual void end() noexcept = 0; // all ranks have reported

  protected:
    ~deadlock_ground() = default;
};

// One rank's part in it; one thread at a time.
class deadlock_rounds {
  public:
    using clock = std::chrono::steady_clock;

    // first_pause: before another attempt where messages were under way.
    deadlock_rounds(deadlock_ground &ground, int rank, int size, clock::duration first_pause);

    void all_wait() noexcept; // this rank seems to be idle
    void came(int from, const probe_body &body) noexcept;
    void ranks_have_gone() noexcept; // some have failed or left
    // What is to be done when that time has come; max(): nothing.
    clock::time_point next() const noexcept { return next_; }
    void time_has_come() noexcept;

  private:
    enum class phase { none, first_wave, second_wave, reports, told };
    struct sums {
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        std::uint64_t waiting = 0; // ranks
    };

    bool asks() const noexcept;
    bool knows_a_busy_one() const noexcept;
    void tell_who_waits() noexcept;
    void begin() noexcept;
    void begin_wave(phase which) noexcept;
    void asked(int from, const probe_body &body) noexcept;
    void answered(int from, const probe_body &body) noexcept;
    void end_wave() noexcept;
    void give_up() noexcept;
    void pause() noexcept;
    void try_again() noexcept;
    void report() noexcept;
    void next_report() noexcept;

    struct other {
        bool is_busy = false;   // said so, and nothing since
        bool is_asked = false;  // and has not answered
        bool waits_for = false; // asked this rank when it was busy
    };
    deadlock_ground &ground_;
    const int rank_;
    std::vector<other> others_; // by rank; the own one is never set
    phase phase_ = phase::none;
    std::uint64_t wave_ = 0;
    int asked_ = 0; // how many are
    sums now_, before_;
    std::uint64_t failed_ = 0;
    int reporter_ = -1; // who writes
    const clock::duration first_pause_;
    clock::duration pause_;
    clock::time_point next_ = clock::time_point::max();
};

} // namespace fult::comm::detail
