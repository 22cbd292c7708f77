#include <cstdio>
#include <string_view>

#include "comm/job/device_setup.hpp"
#include "comm/job/option_table.hpp"

namespace fult::comm {
namespace detail {
namespace {

using namespace fult::detail; // the kinds of options

constexpr choice<progress_policy> policies[] = {{"auto", progress_policy::automatic},
                                                {"workers", progress_policy::workers},
                                                {"dedicated", progress_policy::dedicated}};

constexpr char same_host_values[] = "auto, none, a provider";
constexpr char network_values[] = "auto, verbs, a provider";
constexpr char interface_values[] = "auto, a name or an address";
constexpr char gid_values[] = "auto, an index";

constexpr std::size_t operator""_K(unsigned long long n) { return std::size_t{n} << 10; }
constexpr std::size_t operator""_M(unsigned long long n) { return std::size_t{n} << 20; }

constexpr comm_option_row rows[] = {
    option<text_option<&options::same_host, same_host_values>>(
        "FULT_COMM_SAME_HOST",
        "What carries messages between ranks of one host: FULT's own shared memory (what auto means), a "
        "libfabric provider such as shm; none: the network does."),
    option<number_option<&options::shared_memory, bytes, 1_M, 1024 * 1024_M>>(
        "FULT_COMM_SHARED_MEMORY", "Bytes of shared memory for the messages between all ranks of a host "
                                   "together. With many ranks each pair gets less, down to a page."),
    option<text_option<&options::network, network_values>>(
        "FULT_COMM_NETWORK",
        "What carries messages between hosts: verbs, which uses InfiniBand and RoCE "
        "adapters directly, or a provider "
        "of libfabric, as `fi_info -l` names it. auto: verbs if all ranks have an active port of the same "
        "kind, else a provider that libfabric offers."),
    option<text_option<&options::interface, interface_values>>(
        "FULT_COMM_INTERFACE", "The network interface to use; an error lists the usable ones. With verbs "
                               "also a port of an adapter, such as "
                               "mlx5_0:1, or several, separated by commas, which the devices use in turn."),
    option<text_option<&options::gid, gid_values>>(
        "FULT_COMM_GID",
        "With verbs: the index of the port's GID to use. auto: RoCE v2 before v1, IPv4 before IPv6."),
    option<named_option<&options::progress, policies>>(
        "FULT_COMM_SERVER", "What makes progress: the workers between tasks and when idle (also auto), or a "
                            "kernel thread beside them."),
    option<number_option<&options::devices, numbers, 1, 8>>(
        "FULT_COMM_DEVICES", "Devices of a rank, the same on all ranks: each has transports, packets, a lock "
                             "and a server of its own. Endpoints name theirs when they are made."),
    option<number_or_auto<&options::packet_size, bytes, 256, 1_M, usual_packet_size>>(
        "FULT_COMM_PACKET_SIZE",
        "Bytes of a packet, the same on all ranks. auto: 66K if all ranks are on one "
        "host, so that messages of up to 64 KiB do not wait for their receives; "
        "else 8K."),
    option<number_option<&options::packets, large_numbers, 8, 1_M>>(
        "FULT_COMM_PACKETS", "Packets of a device, at most; at the bound, senders wait."),
    option<number_option<&options::rendezvous, bytes, 0, 1024_M>>(
        "FULT_COMM_RENDEZVOUS", "Bytes from which on a message waits at its sender until there is a receive; "
                                "0: what does not fit a packet."),
    option<number_option<&options::unexpected, bytes, 64_K, 1024 * 1024_M>>(
        "FULT_COMM_UNEXPECTED",
        "Bytes of memory for messages that no receive waits for yet, with their records; "
        "beyond, senders keep theirs until they are wanted."),
    option<switch_option<&options::gather>>(
        "FULT_COMM_GATHER",
        "Small messages wait for each other, to share packets, while their worker has other tasks to run."),
    option<number_option<&options::timeout, seconds, 1, 86400>>(
        "FULT_COMM_TIMEOUT", "Seconds to wait for the other ranks at the start and the end."),
    option<number_option<&options::heartbeat, seconds, 1, 3600>>(
        "FULT_COMM_HEARTBEAT", "Seconds of silence after which a rank of another host counts as dead."),
    option<switch_option<&options::counters>>(
        "FULT_COMM_COUNTERS",
        "At the end of a context each rank prints what its transports have counted (verbs)."),
};

} // namespace

std::span<const comm_option_row> comm_option_table() noexcept { return rows; }

void read_options(options &into) {
    const auto rows = comm_option_table();
    fult::detail::read_environment(rows, into, "fult-comm");
    fult::detail::for_each_unknown(
        rows, "FULT_COMM_", [](std::string_view name, const std::string &question) {
            std::fprintf(stderr,
                         "fult-comm: the environment variable %.*s is unknown; %s`fult-comm-info` lists "
                         "those that are\n",
                         static_cast<int>(name.size()), name.data(), question.c_str());
        });
}

} // namespace detail

} // namespace fult::comm
