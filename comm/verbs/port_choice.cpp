#include "comm/verbs/port_choice.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fult/detail/assertion.hpp>

#include "comm/verbs/objects.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_mapped_ipv4(const ibv_gid &gid) {
    return std::equal(mapped_prefix.begin(), mapped_prefix.end(), std::begin(gid.raw));
}

bool is_link_local(const ibv_gid &gid) { return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80; }

// A RoCE port's GIDs are the addresses of its network interface.
std::string address_of(const ibv_gid &gid) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const bool four = is_mapped_ipv4(gid);
    return inet_ntop(four ? AF_INET : AF_INET6, gid.raw + (four ? 12 : 0), text.data(), text.size())
               ? text.data()
               : "";
}

// Higher is better: RoCE v2 is routed as IP, and its IPv4 addresses are what administrators configure.
// Link-local addresses change with the hardware, and may not be reachable through switches.
int preference(const ibv_gid_entry &entry) {
    if (entry.gid_type == IBV_GID_TYPE_IB)
        return 1;
    return (entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 4 : 0) + (is_mapped_ipv4(entry.gid) ? 2 : 0) +
           (is_link_local(entry.gid) ? 0 : 1);
}

std::string request(const verbs_settings &settings) {
    return (settings.ports.empty() ? std::string("any port")
                                   : "'" + settings.ports + "' (FULT_COMM_INTERFACE)") +
           (settings.gid < 0 ? "" : ", GID " + std::to_string(settings.gid) + " (FULT_COMM_GID)");
}

std::vector<std::string> words_of(const std::string &list) {
    std::vector<std::string> words;
    for (std::string_view rest = list; !rest.empty();) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        if (end != 0)
            words.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return words;
}

// The GID of a port that fits the request and is the best of these; nullptr if none fits. `wanted` is empty,
// or names the device, the port, its network interface or an address of that.
const listed_gid *fitting_gid(const listed_port &port, const std::string &wanted, int index) {
    const bool by_name =
        wanted.empty() || wanted == port.device || wanted == port_name(port.device, port.number);
    const listed_gid *best = nullptr;
    for (const listed_gid &each : port.gids)
        if ((by_name || each.interface == wanted || address_of(each.entry.gid) == wanted) &&
            (index < 0 || each.entry.gid_index == static_cast<std::uint32_t>(index)) &&
            (!best || preference(each.entry) > preference(best->entry)))
            best = &each;
    return best;
}

// Why the port cannot be used, whatever is wanted; empty if it can.
std::string obstacle(const listed_port &port) {
    if (!port.fault.empty())
        return port.fault;
    switch (port.state) {
    case IBV_PORT_ACTIVE:
        return "";
    case IBV_PORT_INIT:
    case IBV_PORT_ARMED:
        return "not active yet: it waits for a subnet manager";
    default:
        return port.is_ethernet ? "down: set its network interface up, and check its cable"
                                : "down: check its cable";
    }
}

std::string description(const listed_port &port) {
    std::string what = obstacle(port);
    const listed_gid *const usual = what.empty() ? fitting_gid(port, "", -1) : nullptr;
    if (usual)
        what = "GID " + std::to_string(usual->entry.gid_index) + ", " +
               (usual->interface.empty() ? "" : usual->interface + " ") + address_of(usual->entry.gid);
    else if (what.empty())
        what = "no GID";
    return port_name(port.device, port.number) + " (" + what + ")";
}

std::string report(std::span<const listed_port> all) {
    std::string text;
    for (const listed_port &each : all)
        text += (text.empty() ? "" : ", ") + description(each);
    return text.empty() ? "none (is the adapter's module loaded?)" : text;
}

} // namespace

const char *network_of(bool is_ethernet, const ibv_gid_entry &gid) noexcept {
    return !is_ethernet ? "infiniband" : gid.gid_type == IBV_GID_TYPE_ROCE_V2 ? "roce2" : "roce1";
}

port_choice choose_among(std::span<const listed_port> all, const verbs_settings &settings) {
    const std::vector<std::string> names = words_of(settings.ports);
    const std::string wanted = names.empty() ? "" : names[settings.index % names.size()];
    std::vector<port_choice> usable;
    const char *network = nullptr; // of the first one: the devices of a rank are of one kind
    for (std::size_t i = 0; i < all.size(); ++i) {
        const listed_gid *const gid =
            obstacle(all[i]).empty() ? fitting_gid(all[i], wanted, settings.gid) : nullptr;
        if (!gid)
            continue;
        const char *const its = network_of(all[i].is_ethernet, gid->entry);
        if (!network)
            network = its;
        if (std::strcmp(network, its) == 0)
            usable.push_back({i, gid->entry});
    }
    if (usable.empty())
        throw std::runtime_error("fult-comm: verbs: no active port for " + request(settings) +
                                 "; here are: " + report(all) +
                                 ". Name another one, or use another FULT_COMM_NETWORK; `ibv_devinfo -v` "
                                 "shows the ports with their GIDs");
    const std::size_t which = names.empty() ? settings.index % usable.size() : 0;
    FULT_ASSERT(which < usable.size() && usable[which].index < all.size());
    return usable[which];
}

} // namespace fult::comm::detail
