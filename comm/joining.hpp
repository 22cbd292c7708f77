// How the devices of a job come to reach those of the other ranks: who is on this host, which transports
// there must be, and what has to be told to whom.
#pragma once

#include <cstddef>
#include <cstdint>
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
    // Whether this is the first rank of its host: it speaks for the others.
    bool is_first_here() const noexcept;
    std::size_t ranks_here() const noexcept; // this one included
    // Bytes of shared memory for one device of one rank. `free`: as far as there is memory; else as far as
    // FULT_COMM_SHARED_MEMORY allows.
    std::size_t room(bool free) const noexcept;
    // Whether the ranks of this host have more workers than processors.
    bool processors_are_short() const noexcept { return processors_are_short_; }
    // As liveness wants them: 0 for ranks that are not near, -1 for this one.
    const std::vector<pid_t> &processes() const noexcept { return processes_; }
    // Of the job: known to its ranks alone.
    std::uint64_t secret() const noexcept { return secret_; }
    // Under which a rank's device shows what it has on the host.
    std::string name_of(std::size_t rank, unsigned device) const;

  private:
    int rank_;
    std::string job_;
    std::uint64_t secret_;
    std::vector<bool> near_;
    std::vector<pid_t> processes_;
    bool any_near_ = false, any_far_ = false;
    std::size_t free_ = 0, allowed_ = 0; // bytes of shared memory: the least that a rank of this host says
    unsigned devices_;
    bool processors_are_short_ = false;
};

// The way of one device to those of the same number at the other ranks, in steps that all ranks take
// together: open, exchange addresses(), where lacks_room() says so for any device go_far() and another
// exchange, connect, a barrier, hide.
class joining {
  public:
    static constexpr std::size_t parts = 3; // of what addresses() gives

    joining(const neighbours &all, const options &wanted, unsigned device);

    // Of all ranks, by rank; each has those of its devices one after the other.
    using all_addresses = std::vector<std::vector<std::string>>;

    std::vector<std::string> addresses() const; // of this rank, for all others
    // Whether some rank of the job has found no room for its shared memory. All ranks get the same answer.
    static bool lacks_room(const all_addresses &addresses);
    // Such a rank and the others of its host reach each other over the network. One of them says so.
    void go_far(const all_addresses &addresses);
    void connect(const all_addresses &addresses);
    void hide() noexcept;

    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes; // by rank: which of them, -1 for this rank itself
    std::unique_ptr<doorbells> bells;

  private:
    void open_near();
    int open_shared_memory();
    void say_what_is_short() const;
    static bool lacks_room(const std::vector<std::string> &of_rank);
    bool is_first_shortage(const all_addresses &addresses) const;
    bool is_far(const all_addresses &addresses, std::size_t rank) const;
    const std::string &part(const all_addresses &addresses, std::size_t rank, std::size_t which) const {
        return addresses[rank][device_ * parts + which];
    }
    int open_fabric_for(bool same_host, const std::string &provider);

    const neighbours &all_;
    options wanted_;
    unsigned device_;
    std::string shortage_;     // why this rank has no shared memory
    int near_ = -1, far_ = -1; // among the transports
};

} // namespace fult::comm::detail
