// Being a rank of a job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <fult/comm/endpoint.hpp>

namespace fult::comm {

namespace detail {
class job;
}

// Who looks after arriving messages: the workers, between tasks and when they have nothing to run, or a
// kernel thread beside them. The better one depends on the number of cores (docs/communication.md).
enum class server_policy { automatic, workers, dedicated };

// What a context is started with. The variable behind each member is the same option in the environment.
struct options {
    // FULT_COMM_SAME_HOST: for ranks of one host: auto (FULT's own shared memory), a libfabric provider's
    // name, or none
    std::string same_host = "auto";
    std::string network = "auto";   // FULT_COMM_NETWORK: for ranks of other hosts: auto, or a provider's name
    std::string interface = "auto"; // FULT_COMM_INTERFACE: the network's address or name on this host
    server_policy server = server_policy::automatic; // FULT_COMM_SERVER
    unsigned devices = 1; // FULT_COMM_DEVICES: each with its own transports, packets, lock and server
    std::size_t packet_size = 8192; // FULT_COMM_PACKET_SIZE: bytes, header included
    std::size_t shared_memory = std::size_t{256}
                                << 20; // FULT_COMM_SHARED_MEMORY: bytes, of all ranks of a host together
    std::size_t packets = 1024;        // FULT_COMM_PACKETS: buffers of a device, at most
    std::size_t rendezvous = 0;        // FULT_COMM_RENDEZVOUS: bytes from which on; 0: a packet's
    std::size_t unexpected = std::size_t{256}
                             << 20; // FULT_COMM_UNEXPECTED: bytes of messages nobody waits for
    bool gather = true;             // FULT_COMM_GATHER: small messages share packets
    unsigned timeout = 60;          // FULT_COMM_TIMEOUT: seconds to wait for ranks at the start
    unsigned heartbeat = 5;         // FULT_COMM_HEARTBEAT: seconds of silence that mean death
};

// The defaults, changed by the FULT_COMM_* variables of the environment. Throws std::invalid_argument that
// names the variable, its value and what it may be.
FULT_API options read_options();

// This process as a rank. Made and destroyed by a task, on all ranks (it is collective), while a runtime
// runs. Where no launcher started the program, the job has one rank.
class FULT_API context {
  public:
    // Throws std::logic_error (no runtime), std::runtime_error (no provider, a launcher that does not answer,
    // a rank that never came), each with what to do about it. May suspend.
    explicit context(const options &wanted = read_options());
    context(const context &) = delete;
    context &operator=(const context &) = delete;
    // Waits for all ranks. Operations that are pending, and endpoints that were made from it and are still
    // there, end the program with a message that lists them.
    ~context();

    int rank() const noexcept;
    int size() const noexcept;
    const char *launcher() const noexcept; // "fult-run", "PMIx", "PMI-1", or "one rank"
    const char *route_to(int rank) const;  // "shared", "shm", "net", ...: what carries messages to it
    bool failed(int rank) const;           // whether it is known to have ended
    // Packets that came over the network from processes that are not of this job, and were refused.
    std::uint64_t refused_packets() const noexcept;

    // The endpoint that is always there: matched, without wildcards.
    endpoint &world() noexcept;
    // Another one. Every rank makes the same ones in the same order; messages may arrive before this rank has
    // made it.
    endpoint make_endpoint(endpoint_options how = {});

    // Waits for all ranks; only this task does.
    void barrier();

    // Ends all ranks with that status.
    [[noreturn]] void abort(int status, const std::string &why);

    // Does what there is to do for messages; whether there was anything. For loops of foreign threads and of
    // tasks that never wait. Never suspends.
    bool progress() noexcept;

  private:
    std::unique_ptr<detail::job> job_;
};

} // namespace fult::comm
