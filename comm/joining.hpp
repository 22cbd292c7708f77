// How the devices of a job come to reach those of the other ranks: who is on this host, which transports
// there must be, and what has to be told to whom.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include <fult/comm/context.hpp>

#include "comm/bells.hpp"
#include "comm/bootstrap/bootstrap.hpp"
#include "comm/transport.hpp"

namespace fult::comm::detail {

// The ranks of a job as this one sees them.
class neighbours {
  public:
    // Tells this rank's to all others, and is told theirs. Throws std::runtime_error where they were started
    // with other options that must be the same.
    neighbours(bootstrap &boot, const options &wanted);

    int rank() const noexcept { return rank_; }
    std::size_t size() const noexcept { return near_.size(); }
    bool is_near(std::size_t rank) const noexcept { return near_[rank]; } // on this host, and treated so
    bool any_near() const noexcept { return any_near_; }
    bool any_far() const noexcept { return any_far_; }
    // As liveness wants them: 0 for ranks that are not near, -1 for this one.
    const std::vector<pid_t> &processes() const noexcept { return processes_; }
    // Under which a rank's device shows what it has on the host.
    std::string name_of(std::size_t rank, unsigned device) const;

  private:
    int rank_;
    std::string job_;
    std::vector<bool> near_;
    std::vector<pid_t> processes_;
    bool any_near_ = false, any_far_ = false;
};

// The way of one device to those of the same number at the other ranks, in steps that all ranks take
// together: open, exchange addresses(), connect, a barrier, hide.
class joining {
  public:
    static constexpr std::size_t parts = 2; // of what addresses() gives

    joining(const neighbours &all, const options &wanted, unsigned device);

    std::vector<std::string> addresses() const; // of this rank, for all others
    // By rank: what theirs gave, from that place on.
    void connect(const std::vector<std::vector<std::string>> &addresses, std::size_t place);
    void hide() noexcept;

    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes; // by rank: which of them, -1 for this rank itself
    std::unique_ptr<doorbells> bells;

  private:
    int open_near(const options &wanted);
    int open_fabric_for(bool same_host, const std::string &provider, const std::string &interface,
                        std::size_t packet_size);

    const neighbours &all_;
    unsigned device_;
    int near_ = -1, far_ = -1; // among the transports
};

} // namespace fult::comm::detail
