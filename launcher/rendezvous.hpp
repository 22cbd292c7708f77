#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "comm/bootstrap/run_message.hpp"

// The collective calls of the ranks, one at a time: each ends when all ranks have arrived, or fails for all.
namespace fult::run {

class rendezvous {
  public:
    using clock = std::chrono::steady_clock;

    // Answer to one rank. The bytes are those of all ranks, and may be large.
    struct answer {
        int rank;
        std::shared_ptr<const std::string> bytes;
    };

    explicit rendezvous(int ranks) : arrived_(static_cast<std::size_t>(ranks)) {}

    // A rank calls exchange or barrier.
    void arrive(int rank, comm::detail::run_message message, clock::time_point now);

    // A rank will make no more calls; `why` is how it ended: "has ended with status 0".
    void gone(int rank, const std::string &why);

    // Time of the next call of expire(), unless something happens before.
    std::optional<clock::time_point> deadline() const noexcept;
    void expire(clock::time_point now);

    // The messages to be sent now.
    std::vector<answer> take_answers() { return std::exchange(answers_, {}); }

  private:
    void complete();
    void fail(const std::string &why, comm::detail::run_failure kind = comm::detail::run_failure::other);
    std::string missing() const;

    std::vector<std::optional<std::string>> arrived_;
    std::size_t count_ = 0;
    comm::detail::run_kind kind_{};
    clock::time_point until_;
    std::chrono::milliseconds wait_{};
    std::string failure_; // why no further call can succeed
    comm::detail::run_failure failure_kind_{};
    std::vector<answer> answers_;
};

} // namespace fult::run
