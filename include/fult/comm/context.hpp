/// @file
/// A rank's membership in a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <fult/comm/endpoint.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {
class job;
// The number of ranks by the launcher's environment variables, for libraries that are asked before a context
// exists. 1 without a launcher; 0: they do not show it.
FULT_API int launched_ranks() noexcept;
} // namespace detail
/// @endcond

/// The threads that make progress: the workers, between tasks and when idle, or a dedicated kernel thread.
/// Which is better depends on the number of cores (docs/communication.md).
enum class progress_policy { automatic, workers, dedicated };

/// Options of a context. The environment variable of each member sets the same option.
struct options {
    /// Of this structure: a later library takes the defaults of what a program does not have.
    std::size_t size = sizeof(options);
    /// FULT_COMM_SAME_HOST: for ranks of one host: auto (FULT's own shared memory), the name of a libfabric
    /// provider, or none
    std::string same_host = "auto";
    /// FULT_COMM_NETWORK: for ranks of other hosts: auto, verbs, or a libfabric provider's name
    std::string network = "auto";
    /// FULT_COMM_INTERFACE: the network's address or name on this host; with verbs, also ports of adapters
    std::string interface = "auto";
    progress_policy progress = progress_policy::automatic; ///< FULT_COMM_SERVER
    /// FULT_COMM_DEVICES: each has its own transports, packets, lock and progress engine
    unsigned devices = 1;
    std::size_t packet_size = 0; ///< FULT_COMM_PACKET_SIZE: bytes, header included; 0: automatic
    std::size_t shared_memory = std::size_t{256}
                                << 20; ///< FULT_COMM_SHARED_MEMORY: bytes, for all ranks of a host together
    std::size_t packets = 1024;        ///< FULT_COMM_PACKETS: maximum number of buffers of a device
    std::size_t rendezvous = 0;        ///< FULT_COMM_RENDEZVOUS: minimum size in bytes; 0: a packet's
    std::size_t unexpected = std::size_t{256} << 20; ///< FULT_COMM_UNEXPECTED: bytes for unexpected messages
    bool gather = true;                              ///< FULT_COMM_GATHER: small messages share packets
    unsigned timeout = 60;    ///< FULT_COMM_TIMEOUT: seconds to wait for ranks at start
    unsigned heartbeat = 5;   ///< FULT_COMM_HEARTBEAT: seconds of silence after which a rank counts as failed
    std::string gid = "auto"; ///< FULT_COMM_GID: with verbs, an index into the port's table of GIDs
    bool counters = false;    ///< FULT_COMM_COUNTERS: print what the transports have counted at the end
};

/// @cond internal
namespace detail {
FULT_API void read_options(options &into);
} // namespace detail
/// @endcond

/// The defaults, overridden by the environment variables FULT_COMM_*. Throws std::invalid_argument that names
/// the variable, its value and the allowed values.
inline options read_options() {
    options found;
    detail::read_options(found);
    return found;
}

/// Makes this process a rank. Created and destroyed by a task, on all ranks (collective), while a runtime
/// runs. If no launcher started the program, the job has one rank.
class FULT_API context {
  public:
    /// Throws std::invalid_argument (an option out of its range), std::logic_error (no runtime),
    /// std::runtime_error (no provider, the launcher does not answer, a rank did not start), each with the
    /// remedy. May suspend.
    explicit context(const options &settings = read_options());
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    /// Waits for all ranks. Pending operations, and endpoints created from it that still exist, end the
    /// program with a message that lists them.
    ~context();

    int rank() const noexcept;             ///< of this process, from 0 on
    int size() const noexcept;             ///< number of ranks
    const char *launcher() const noexcept; ///< "fult-run", "PMIx", "PMI-1", or "one rank"
    const char *route_to(int rank) const;  ///< "shared", "shm", "net", ...: the transport used; see endpoint
    bool has_failed(int rank) const;       ///< true if it is known to have ended
    /// Number of refused network packets from processes outside this job.
    std::uint64_t refused_packets() const noexcept;

    /// The predefined endpoint: matched, without wildcards.
    endpoint &world() noexcept;
    /// Creates another endpoint. Every rank creates the same endpoints in the same order; messages may arrive
    /// before this rank has created it. Their numbers are not used again: throws std::length_error after
    /// 2,046 endpoints, including those that were destroyed.
    endpoint make_endpoint(endpoint_options options = {});

    /// Ends all ranks with that status.
    [[noreturn]] void abort(int status, const std::string &reason);

    /// Makes progress; true if there was something to do. For loops of foreign threads and of tasks that
    /// never wait. Never suspends.
    bool progress() noexcept;

  private:
    std::unique_ptr<detail::job> job_;
};

} // namespace fult::comm
