#include "comm/verbs/ports.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <filesystem>
#include <net/if.h>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fult/detail/assertion.hpp>

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

std::string interface_of(const ibv_gid_entry &entry) {
    std::array<char, IF_NAMESIZE> name{};
    return entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name.data()) ? name.data() : "";
}

std::vector<ibv_gid_entry> gids_of(ibv_context *device, std::uint8_t port, int count) {
    std::vector<ibv_gid_entry> found;
    for (int i = 0; i < count; ++i) {
        ibv_gid_entry entry{};
        if (libibverbs().query_gid(device, port, static_cast<std::uint32_t>(i), &entry, 0, sizeof entry) == 0)
            found.push_back(entry);
    }
    return found;
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

// The GID of a port that fits the request and is the best of these; nothing if none fits. `wanted` is empty,
// or names the device, the port, its network interface or an address of that.
std::optional<ibv_gid_entry> fitting_gid(const verbs_port &port, const std::string &device,
                                         const std::string &wanted, int index) {
    const bool by_name = wanted.empty() || wanted == device || wanted == port.name;
    std::optional<ibv_gid_entry> best;
    for (const ibv_gid_entry &each : gids_of(port.device.get(), port.number, port.attributes.gid_tbl_len))
        if ((by_name || interface_of(each) == wanted || address_of(each.gid) == wanted) &&
            (index < 0 || each.gid_index == static_cast<std::uint32_t>(index)) &&
            (!best || preference(each) > preference(*best)))
            best = each;
    return best;
}

struct device_list {
    int count = 0;
    ibv_device **devices;
    device_list() : devices(libibverbs().get_device_list(&count)) {}
    ~device_list() {
        if (devices != nullptr)
            libibverbs().free_device_list(devices);
    }
    device_list(const device_list &) = delete;
    device_list &operator=(const device_list &) = delete;
    std::span<ibv_device *const> all() const {
        return {devices, devices != nullptr ? static_cast<std::size_t>(count) : 0};
    }
};

// What was found, and why the rest is not usable.
struct survey {
    std::vector<verbs_port> usable;
    std::string report;
};

void look_at(survey &all, ibv_device *which, std::uint8_t number, const std::string &wanted, int gid) {
    const verbs_library &library = libibverbs();
    const std::string device = library.get_device_name(which);
    verbs_port port;
    port.device.reset(library.open_device(which));
    port.number = number;
    port.name = port_name(device, number);
    const auto note = [&](const std::string &what) {
        all.report += (all.report.empty() ? "" : ", ") + port.name + " (" + what + ")";
    };
    if (!port.device || library.query_device(port.device.get(), &port.limits) != 0 ||
        library.query_port(port.device.get(), number, &port.attributes) != 0) {
        const int error = errno;
        note("does not open: " + std::string(std::strerror(error)) + verbs_remedy(error));
        return;
    }
    if (port.attributes.state != IBV_PORT_ACTIVE) {
        note("not active");
        return;
    }
    const auto fits = fitting_gid(port, device, wanted, gid);
    const auto usual = fits ? fits : fitting_gid(port, device, "", -1);
    note(usual ? "GID " + std::to_string(usual->gid_index) + ", " + interface_of(*usual) + " " +
                     address_of(usual->gid)
               : "no GID");
    if (!fits)
        return;
    port.gid = *fits;
    all.usable.push_back(std::move(port));
}

survey look_for(const std::string &wanted, int gid) {
    survey all;
    const device_list list;
    for (ibv_device *const each : list.all()) {
        ibv_device_attr limits{};
        const verbs_ptr<ibv_context> open(libibverbs().open_device(each));
        const bool known = open && libibverbs().query_device(open.get(), &limits) == 0;
        for (int port = 1; port <= (known ? limits.phys_port_cnt : 1); ++port)
            look_at(all, each, static_cast<std::uint8_t>(port), wanted, gid);
    }
    return all;
}

} // namespace

const char *verbs_port::network() const noexcept {
    return !is_ethernet() ? "infiniband" : gid.gid_type == IBV_GID_TYPE_ROCE_V2 ? "roce2" : "roce1";
}

bool has_adapters() noexcept {
    std::error_code none;
    return std::filesystem::directory_iterator("/sys/class/infiniband", none) !=
           std::filesystem::directory_iterator();
}

verbs_port choose_port(const verbs_settings &settings) {
    std::vector<std::string> wanted = words_of(settings.ports);
    const bool any = wanted.empty();
    survey found = look_for(any ? "" : wanted[settings.index % wanted.size()], settings.gid);
    if (found.usable.empty())
        throw std::runtime_error(
            "fult-comm: verbs: no active port for " + request(settings) + "; here are: " +
            (found.report.empty() ? "none (is the adapter's module loaded?)" : found.report) +
            ". Name another one, or use another FULT_COMM_NETWORK; `ibv_devinfo -v` shows the ports with "
            "their GIDs");
    const std::size_t which = any ? settings.index % found.usable.size() : 0;
    FULT_ASSERT(which < found.usable.size() && found.usable[which].device);
    return std::move(found.usable[which]);
}

} // namespace fult::comm::detail
