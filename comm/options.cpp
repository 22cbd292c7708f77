#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

#include <fult/comm/context.hpp>

#include "comm/option_table.hpp"

namespace fult::comm {
namespace detail {
namespace {

[[noreturn]] void expect(const char *what) { throw std::invalid_argument(what); }

std::size_t number(std::string_view text, std::size_t low, std::size_t high, const char *what) {
    unsigned shift = 0;
    if (!text.empty()) {
        const char last = text.back();
        shift = last == 'K' || last == 'k'   ? 10
                : last == 'M' || last == 'm' ? 20
                : last == 'G' || last == 'g' ? 30
                                             : 0;
        if (shift != 0)
            text.remove_suffix(1);
    }
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > high >> shift ||
        value << shift < low)
        expect(what);
    return value << shift;
}

constexpr const char *policies[] = {"auto", "workers", "dedicated"};

constexpr comm_option_row rows[] = {
    {"FULT_COMM_SAME_HOST", "auto, none, a provider", "auto",
     "What carries messages between ranks of one host: FULT's own shared memory (what auto means), a "
     "libfabric provider "
     "such as shm; none: the network does.",
     [](options &o, std::string_view t) { o.same_host = t; }, [](const options &o) { return o.same_host; }},
    {"FULT_COMM_SHARED_MEMORY", "1M to 1T", "256M",
     "Bytes of shared memory for the messages between all ranks of a host together. With many ranks each "
     "pair "
     "gets less, down to a page.",
     [](options &o, std::string_view t) {
         o.shared_memory = number(t, std::size_t{1} << 20, std::size_t{1} << 40, "a size from 1M to 1024G");
     },
     [](const options &o) { return std::to_string(o.shared_memory); }},
    {"FULT_COMM_NETWORK", "auto, a provider", "auto",
     "What carries messages between hosts, as `fi_info -l` names it.",
     [](options &o, std::string_view t) { o.network = t; }, [](const options &o) { return o.network; }},
    {"FULT_COMM_INTERFACE", "auto, a name or an address", "auto",
     "The network interface to use; an error lists the usable ones.",
     [](options &o, std::string_view t) { o.interface = t; }, [](const options &o) { return o.interface; }},
    {"FULT_COMM_SERVER", "auto, workers, dedicated", "auto",
     "What makes progress: the workers between tasks and when idle (also auto), or a kernel thread beside "
     "them.",
     [](options &o, std::string_view t) {
         for (std::size_t i = 0; i < std::size(policies); ++i)
             if (t == policies[i]) {
                 o.server = static_cast<server_policy>(i);
                 return;
             }
         expect("auto, workers or dedicated");
     },
     [](const options &o) { return std::string(policies[static_cast<std::size_t>(o.server)]); }},
    {"FULT_COMM_DEVICES", "1 to 8", "1",
     "Devices of a rank, the same on all ranks: each has transports, packets, a lock and a server of its "
     "own. "
     "Endpoints name theirs when they are made.",
     [](options &o, std::string_view t) {
         o.devices = static_cast<unsigned>(number(t, 1, 8, "a number from 1 to 8"));
     },
     [](const options &o) { return std::to_string(o.devices); }},
    {"FULT_COMM_PACKET_SIZE", "256 to 1M", "8K", "Bytes of a packet, the same on all ranks.",
     [](options &o, std::string_view t) {
         o.packet_size = number(t, 256, 1 << 20, "a size from 256 to 1M, such as 8192 or 8K");
     },
     [](const options &o) { return std::to_string(o.packet_size); }},
    {"FULT_COMM_PACKETS", "8 to 1M", "1K", "Packets of a device, at most; at the bound, senders wait.",
     [](options &o, std::string_view t) { o.packets = number(t, 8, 1 << 20, "a number from 8 to 1M"); },
     [](const options &o) { return std::to_string(o.packets); }},
    {"FULT_COMM_RENDEZVOUS", "0 to 1G", "0",
     "Bytes from which on a message waits at its sender until there is a receive; 0: what does not fit a "
     "packet.",
     [](options &o, std::string_view t) {
         o.rendezvous = number(t, 0, std::size_t{1} << 30, "a size from 0 to 1G");
     },
     [](const options &o) { return std::to_string(o.rendezvous); }},
    {"FULT_COMM_UNEXPECTED", "64K to 1T", "256M",
     "Bytes of messages that no receive waits for yet; beyond, senders keep theirs until they are wanted.",
     [](options &o, std::string_view t) {
         o.unexpected = number(t, 1 << 16, std::size_t{1} << 40, "a size from 64K to 1024G");
     },
     [](const options &o) { return std::to_string(o.unexpected); }},
    {"FULT_COMM_GATHER", "on, off", "on",
     "Small messages wait for each other, to share packets, while their worker has other tasks to run.",
     [](options &o, std::string_view t) {
         if (t != "on" && t != "off")
             expect("on or off");
         o.gather = t == "on";
     },
     [](const options &o) { return std::string(o.gather ? "on" : "off"); }},
    {"FULT_COMM_TIMEOUT", "1 to 86400", "60", "Seconds to wait for the other ranks at the start and the end.",
     [](options &o, std::string_view t) {
         o.timeout = static_cast<unsigned>(number(t, 1, 86400, "seconds from 1 to 86400"));
     },
     [](const options &o) { return std::to_string(o.timeout); }},
    {"FULT_COMM_HEARTBEAT", "1 to 3600", "5",
     "Seconds of silence after which a rank of another host counts as dead.",
     [](options &o, std::string_view t) {
         o.heartbeat = static_cast<unsigned>(number(t, 1, 3600, "seconds from 1 to 3600"));
     },
     [](const options &o) { return std::to_string(o.heartbeat); }},
};

} // namespace

std::span<const comm_option_row> comm_option_table() noexcept { return rows; }

} // namespace detail

options read_options() {
    options result;
    for (const detail::comm_option_row &row : detail::rows)
        if (const char *text = detail::in_environment(row)) {
            try {
                row.parse(result, text);
            } catch (const std::invalid_argument &expected) {
                throw std::invalid_argument("fult-comm: " + std::string(row.variable) + "='" + text +
                                            "': must be " + expected.what());
            }
        }
    for (char **each = environ; each && *each; ++each) {
        const std::string_view entry(*each);
        const std::string_view name = entry.substr(0, entry.find('='));
        bool known = !entry.starts_with("FULT_COMM_");
        for (const detail::comm_option_row &row : detail::rows)
            known = known || name == row.variable;
        if (!known)
            std::fprintf(stderr,
                         "fult-comm: the environment variable %.*s is unknown; `fult-comm-info` lists those "
                         "that are\n",
                         static_cast<int>(name.size()), name.data());
    }
    return result;
}

} // namespace fult::comm
