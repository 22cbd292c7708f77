#include "comm/verbs/ports.hpp"

#include <array>
#include <filesystem>
#include <net/if.h>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/verbs/port_choice.hpp"

namespace fult::comm::detail {
namespace {

std::string interface_of(const ibv_gid_entry &entry) {
    std::array<char, IF_NAMESIZE> name{};
    return entry.ndev_ifindex != 0 && if_indextoname(entry.ndev_ifindex, name.data()) ? name.data() : "";
}

std::vector<listed_gid> gids_of(ibv_context *device, std::uint8_t port, int count) {
    std::vector<listed_gid> found;
    for (int i = 0; i < count; ++i) {
        ibv_gid_entry entry{};
        if (libibverbs().query_gid(device, port, static_cast<std::uint32_t>(i), &entry, 0, sizeof entry) == 0)
            found.push_back({entry, interface_of(entry)});
    }
    return found;
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

// All ports of this host: `opened[i]` is what `listing[i]` describes.
struct host_ports {
    std::vector<listed_port> listing;
    std::vector<verbs_port> opened;

    void add(ibv_device *device, std::uint8_t number);
};

void host_ports::add(ibv_device *device, std::uint8_t number) {
    const verbs_library &library = libibverbs();
    listed_port its;
    its.device = library.get_device_name(device);
    its.number = number;
    verbs_port port;
    port.name = port_name(its.device, number);
    port.number = number;
    port.device.reset(library.open_device(device));
    if (!port.device || library.query_device(port.device.get(), &port.limits) != 0 ||
        library.query_port(port.device.get(), number, &port.attributes) != 0) {
        const int error = errno;
        its.fault = "does not open: " + std::string(std::strerror(error)) + verbs_remedy(error);
    } else {
        its.state = port.attributes.state;
        its.is_ethernet = port.is_ethernet();
        its.gids = gids_of(port.device.get(), number, port.attributes.gid_tbl_len);
    }
    listing.push_back(std::move(its));
    opened.push_back(std::move(port));
}

host_ports all_ports() {
    host_ports all;
    const device_list list;
    for (ibv_device *const each : list.all()) {
        ibv_device_attr limits{};
        const verbs_ptr<ibv_context> open(libibverbs().open_device(each));
        const bool known = open && libibverbs().query_device(open.get(), &limits) == 0;
        for (int port = 1; port <= (known ? limits.phys_port_cnt : 1); ++port)
            all.add(each, static_cast<std::uint8_t>(port));
    }
    return all;
}

} // namespace

const char *verbs_port::network() const noexcept { return network_of(is_ethernet(), gid); }

bool has_adapters() noexcept {
    std::error_code none;
    return std::filesystem::directory_iterator("/sys/class/infiniband", none) !=
           std::filesystem::directory_iterator();
}

verbs_port choose_port(const verbs_settings &settings) {
    host_ports here = all_ports();
    const port_choice choice = choose_among(here.listing, settings);
    verbs_port port = std::move(here.opened[choice.index]);
    FULT_ASSERT(port.device);
    port.gid = choice.gid;
    return port;
}

} // namespace fult::comm::detail
