#include "comm/fabric/choice.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "comm/fabric/interfaces.hpp"
#include "comm/fabric/signal_guard.hpp"

namespace fult::comm::detail {

namespace {

constexpr std::uint32_t api = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

// Best first; providers in neither list rank after those in the lists. Reliable datagrams over TCP are named
// "net" up to 1.18 and "tcp" later; before, "tcp" meant "tcp;ofi_rxm".
constexpr std::array<std::string_view, 1> shm_providers{"shm"};
constexpr std::array<std::string_view, 3> network_providers{"net", "tcp", "tcp;ofi_rxm"};
// The last resort: slower by orders of magnitude.
constexpr std::string_view last = "sockets";
// Only if named: a datagram from anywhere ends the program within libfabric 1.17.
constexpr std::array<std::string_view, 2> only_by_name{"UDP;ofi_rxd", "udp;ofi_rxd"};

info_ptr get_infos(const char *source, const fi_info *hints) {
    const signal_guard signals; // the first call starts the providers
    fi_info *found = nullptr;
    const int result =
        libfabric().getinfo(api, source, nullptr, source != nullptr ? FI_SOURCE : 0, hints, &found);
    return info_ptr(result == 0 ? found : nullptr);
}

info_ptr make_hints(const fabric_settings &settings, bool one_sided) {
    info_ptr hints(libfabric().dupinfo(nullptr));
    if (!hints)
        throw std::bad_alloc();
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | (one_sided ? FI_RMA : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    // Calls for the endpoint and its queue are made under the device's lock; memory is registered from any
    // thread.
    hints->domain_attr->threading = FI_THREAD_COMPLETION;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED; // overflow is FI_EAGAIN, not loss
    hints->domain_attr->av_type = FI_AV_UNSPEC;
    if (!settings.provider.empty())
        hints->fabric_attr->prov_name = strdup(settings.provider.c_str());
    return hints;
}

// Restricts a query to a source address, or to a domain, which is what libfabric calls a device.
struct query {
    const char *source = nullptr;
    const char *domain = nullptr;
};

info_ptr query_infos(const fabric_settings &settings, bool one_sided, const query &restriction) {
    const info_ptr hints = make_hints(settings, one_sided);
    if (restriction.domain != nullptr)
        hints->domain_attr->name = strdup(restriction.domain);
    return get_infos(restriction.source, hints.get());
}

// Providers treat hints as advice: check whether they followed it.
bool follows(const fi_info &info, const query &restriction) {
    if (restriction.source != nullptr)
        return address_text(info.src_addr, info.src_addrlen) == restriction.source;
    if (restriction.domain != nullptr)
        return info.domain_attr->name != nullptr &&
               std::string_view(info.domain_attr->name) == restriction.domain;
    return true;
}

bool is_in_shared_memory(const fi_info &info) { return info.addr_format == FI_ADDR_STR; }

constexpr std::size_t unusable = 1000; // a preference

std::size_t index_of(std::span<const std::string_view> names, std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Lower is better. Shared-memory providers cannot reach other hosts; their address format shows what they
// are.
std::size_t preference(const fi_info &info, const fabric_settings &settings) {
    const std::string_view name = info.fabric_attr->prov_name;
    if (settings.provider.empty() && settings.scope == reach::network && is_in_shared_memory(info))
        return unusable;
    if (settings.provider.empty() && index_of(only_by_name, name) < only_by_name.size())
        return unusable;
    if ((info.tx_attr->msg_order & FI_ORDER_SAS) == 0)
        return unusable;
    std::size_t result = 0;
    if (settings.scope == reach::same_host) {
        result = index_of(shm_providers, name);
        if (result < shm_providers.size())
            return result;
    }
    const std::size_t index = index_of(network_providers, name);
    return result + index + (name == last ? 1 : 0);
}

// nullptr: no provider fits.
info_ptr best_of(const fabric_settings &settings, bool one_sided, const query &restriction) {
    const info_ptr infos = query_infos(settings, one_sided, restriction);
    const fi_info *best = nullptr;
    std::size_t best_preference = unusable;
    for (const fi_info *each = infos.get(); each != nullptr; each = each->next) {
        const std::size_t rank = preference(*each, settings);
        if (rank < best_preference && follows(*each, restriction)) {
            best = each;
            best_preference = rank;
        }
    }
    return info_ptr(best != nullptr ? libfabric().dupinfo(best) : nullptr);
}

info_ptr best_on_interface(const fabric_settings &settings, bool one_sided) {
    // Shared memory has no interfaces.
    if (settings.scope == reach::same_host)
        if (info_ptr best = best_of(settings, one_sided, {}); best && is_in_shared_memory(*best))
            return best;
    for (const interface_address &each : addresses_named(settings.interface))
        if (info_ptr best = best_of(settings, one_sided, {each.text.c_str(), nullptr}))
            return best;
    return best_of(settings, one_sided, {nullptr, settings.interface.c_str()});
}

// The interfaces on which the provider works, with their addresses.
std::string usable_interfaces(const fabric_settings &settings) {
    std::set<std::string> names;
    const std::vector<interface_address> all = interface_addresses();
    const info_ptr infos = query_infos(settings, false, {});
    for (const fi_info *each = infos.get(); each != nullptr; each = each->next) {
        if (preference(*each, settings) == unusable || is_in_shared_memory(*each))
            continue;
        const std::string address = address_text(each->src_addr, each->src_addrlen);
        const auto its = std::find_if(all.begin(), all.end(),
                                      [&](const interface_address &one) { return one.text == address; });
        if (its != all.end())
            names.insert(its->interface + " (" + address + ")");
        else if (each->domain_attr->name != nullptr && addresses_named(each->domain_attr->name).empty())
            names.insert(each->domain_attr->name);
    }
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::string list_providers() {
    std::set<std::string> names;
    const info_ptr all = get_infos(nullptr, nullptr);
    for (const fi_info *each = all.get(); each != nullptr; each = each->next)
        if (each->ep_attr->type == FI_EP_RDM)
            names.insert(each->fabric_attr->prov_name);
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

bool uses_internet_addresses(const fi_info &chosen) {
    return chosen.addr_format == FI_SOCKADDR || chosen.addr_format == FI_SOCKADDR_IN ||
           chosen.addr_format == FI_SOCKADDR_IN6;
}

// Providers open without one, and then no message arrives.
void require_interface() {
    if (interface_addresses().empty())
        throw std::runtime_error(
            "fult-comm: there is no network: no interface of this host, or of its network namespace, is "
            "up and has an address. Bring one up; for ranks of one host `ip link set lo up` is enough, and "
            "with FULT_COMM_SAME_HOST=auto they need none");
}

[[noreturn]] void throw_no_provider(const fabric_settings &settings) {
    if (const std::string usable = settings.interface.empty() ? "" : usable_interfaces(settings);
        !usable.empty())
        throw std::runtime_error(
            "fult-comm: FULT_COMM_INTERFACE='" + settings.interface + "': " +
            (addresses_named(settings.interface).empty()
                 ? "there is no such interface, or it is down or has no address"
                 : "no provider" + (settings.provider.empty() ? "" : " '" + settings.provider + "'") +
                       " of libfabric works on it") +
            "; usable here: " + usable);
    std::string text = "libfabric has no ";
    text += settings.provider.empty() ? "provider" : "provider '" + settings.provider + "'";
    text += settings.scope == reach::same_host ? " for ranks of this host" : " for the network";
    if (!settings.interface.empty())
        text += " on interface '" + settings.interface + "'";
    text +=
        " with reliable datagrams in order (FI_EP_RDM, FI_MSG, FI_ORDER_SAS). Here are: " + list_providers();
    text +=
        ". Name one of these, or another interface; fi_info -t FI_EP_RDM shows them with their interfaces";
    throw std::runtime_error(text);
}

} // namespace

info_ptr choose_provider(const fabric_settings &settings) {
    for (const bool one_sided : {true, false})
        if (info_ptr best = settings.interface.empty() ? best_of(settings, one_sided, {})
                                                       : best_on_interface(settings, one_sided)) {
            if (uses_internet_addresses(*best))
                require_interface();
            return best;
        }
    throw_no_provider(settings);
}

bool offers_delivery(const fi_info &chosen) {
    const info_ptr hints(libfabric().dupinfo(&chosen));
    if (!hints)
        return false;
    hints->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
    return get_infos(nullptr, hints.get()) != nullptr;
}

} // namespace fult::comm::detail
