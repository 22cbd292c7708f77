// How the devices of a job connect to those of the other ranks: which ranks are on this host, which
// transports are needed, and what is exchanged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include <fult/comm/context.hpp>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/shared/bells.hpp"
#include "comm/transport/transport.hpp"

namespace fult::comm::detail {

// Bytes of a packet, unless the options say otherwise: between hosts, and where all ranks are on one host.
// There copies cost less than a message that waits for its receive, up to 64 KiB and the heads.
inline constexpr std::size_t usual_packet_size = std::size_t{8} << 10,
                             packet_size_of_one_host = std::size_t{66} << 10;

// The ranks of a job, as seen by this one.
class neighbours {
  public:
    // Exchanges the ranks' descriptions. Throws std::runtime_error if other ranks have different values of
    // options that must be the same.
    neighbours(bootstrap &boot, const options &settings);

    int rank() const noexcept { return rank_; }
    std::size_t size() const noexcept { return on_host_.size(); }
    bool is_on_host(std::size_t rank) const noexcept {
        return on_host_[rank];
    } // here, unless same_host is none
    bool any_on_host() const noexcept { return any_on_host_; }
    bool any_remote() const noexcept { return any_remote_; }
    // True if this is the first rank of its host, which reports for all of them.
    bool is_first_here() const noexcept;
    std::size_t ranks_here() const noexcept; // including this one
    // Bytes of shared memory for one device of one rank. `free`: limited by the free memory; else by
    // FULT_COMM_SHARED_MEMORY.
    std::size_t room(bool free) const noexcept;
    // What the option means for this job; the same on all ranks.
    std::size_t packet_size(const options &settings) const noexcept;
    // True if the ranks of this host have more workers than processors.
    bool processors_are_short() const noexcept { return processors_are_short_; }
    // In the form that liveness takes: 0 for ranks that are not near, -1 for this one.
    const std::vector<pid_t> &processes() const noexcept { return processes_; }
    // True if ranks of other hosts are reached by verbs; the same on all ranks, unless they have different
    // options.
    bool uses_verbs() const noexcept { return uses_verbs_; }
    // The job's secret, known to its ranks only.
    std::uint64_t secret() const noexcept { return secret_; }
    // Name of a rank's device, under which it publishes its objects on the host.
    std::string name_of(std::size_t rank, unsigned device) const;

  private:
    int rank_;
    std::string job_;
    std::uint64_t secret_;
    std::vector<bool> on_host_;
    std::vector<pid_t> processes_;
    bool any_on_host_ = false, any_remote_ = false, uses_verbs_ = false;
    std::size_t free_ = 0, allowed_ = 0; // bytes of shared memory: minimum over the ranks of this host
    unsigned devices_;
    bool processors_are_short_ = false;
};

// Connects one device to those of the same number at the other ranks, in steps that all ranks take together:
// open; exchange addresses(); if lacks_room() for any device, use_network() and another exchange; connect; a
// barrier; unlink_names.
class device_setup {
  public:
    static constexpr std::size_t parts = 3; // number of strings in addresses()

    device_setup(const neighbours &all, const options &settings, unsigned device);

    // By rank; each rank has those of its devices in order.
    using all_addresses = std::vector<std::vector<std::string>>;

    std::vector<std::string> addresses() const; // of this rank, for all others
    // True if some rank of the job has no space for its shared memory. All ranks get the same answer.
    static bool lacks_room(const all_addresses &addresses);
    // Such a rank and the others of its host use the network instead. One of them reports it.
    void use_network(const all_addresses &addresses);
    void connect(const all_addresses &addresses);
    void unlink_names() noexcept;

    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes; // by rank: index of the transport, -1 for this rank
    std::unique_ptr<doorbells> bells;

  private:
    void open_host_transport();
    int open_shared_memory();
    void report_shortage() const;
    static bool lacks_room(const std::vector<std::string> &of_rank);
    bool is_first_shortage(const all_addresses &addresses) const;
    bool is_remote(const all_addresses &addresses, std::size_t rank) const;
    const std::string &part(const all_addresses &addresses, std::size_t rank, std::size_t which) const {
        return addresses[rank][device_ * parts + which];
    }
    int open_fabric_for(bool same_host, const std::string &provider);
    int open_network();

    const neighbours &all_;
    options settings_;
    unsigned device_;
    std::string shortage_;         // why this rank has no shared memory
    int host_ = -1, network_ = -1; // index in transports
};

} // namespace fult::comm::detail
