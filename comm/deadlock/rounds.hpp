// Detects that all ranks wait for each other: Mattern's four counters ("Algorithms for distributed
// termination detection", Distributed Computing 2, 1987). One rank asks all others twice. If each is idle
// both times, and both times the total sent equals the total received, no message was in flight between the
// two waves; and only a message could have made a rank continue. Model: tests/model/idle.pml
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "comm/protocol/probe.hpp"

namespace fult::comm::detail {

// The state of this rank.
struct rank_state {
    bool is_idle = false;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t failed = 0;
    bool has_left = false; // idle, but waits for no rank
};

// The environment of the rounds. Called only by them.
class rank_environment {
  public:
    virtual rank_state read_state() noexcept = 0;
    virtual void send(int rank, const probe_body &body) noexcept = 0; // reliable, except to ranks that fail
    virtual bool has_failed(int rank) const noexcept = 0;
    virtual bool has_left(int rank) const noexcept = 0; // or failed; its tasks wait for no other rank
    // `waiting`: number of ranks that have neither left nor failed. Returns when the report is written.
    virtual void report(int waiting) noexcept = 0;
    virtual void end() noexcept = 0; // all ranks have reported

  protected:
    ~rank_environment() = default;
};

// One rank's part of the algorithm. For one thread at a time.
class deadlock_rounds {
  public:
    using clock = std::chrono::steady_clock;

    // first_pause: time before the first retry if messages were in flight.
    deadlock_rounds(rank_environment &environment, int rank, int size, clock::duration first_pause);

    void handle_idle() noexcept; // this rank seems to be idle
    void handle_probe(int from, const probe_body &body) noexcept;
    void handle_departures() noexcept; // some have failed or left
    // Time at which handle_timeout is to be called; max(): not at all.
    clock::time_point next() const noexcept { return next_; }
    void handle_timeout() noexcept;

  private:
    enum class phase { none, first_wave, second_wave, reports, ending };
    struct sums {
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        std::uint64_t waiting = 0; // ranks
    };

    bool is_asking() const noexcept;
    bool knows_busy_rank() const noexcept;
    void send_idle_now() noexcept;
    void begin() noexcept;
    void begin_wave(phase which) noexcept;
    void handle_ask(int from, const probe_body &body) noexcept;
    void handle_answer(int from, const probe_body &body) noexcept;
    void end_wave() noexcept;
    void give_up() noexcept;
    void pause() noexcept;
    void try_again() noexcept;
    void report() noexcept;
    void next_report() noexcept;

    struct other {
        bool is_busy = false;     // it answered busy, and has sent nothing since
        bool is_asked = false;    // and has not answered
        bool awaits_idle = false; // it asked this rank while busy
    };
    rank_environment &environment_;
    const int rank_;
    std::vector<other> others_; // by rank; the entry of this rank is unused
    phase phase_ = phase::none;
    std::uint64_t wave_ = 0;
    int asked_ = 0; // number of ranks with is_asked
    sums now_, before_;
    std::uint64_t failed_ = 0;
    int reporter_ = -1; // the rank that is writing its report
    const clock::duration first_pause_;
    clock::duration pause_;
    clock::time_point next_ = clock::time_point::max();
};

} // namespace fult::comm::detail
