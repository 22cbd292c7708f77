#include "comm/fabric/choice.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cstring>
#include <set>
#include <span>
#include <string_view>
#include <vector>

namespace fult::comm::detail {

namespace {

constexpr std::uint32_t api = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);

// Best first; what neither list names comes after all that the lists do. Reliable datagrams over TCP are
// called "net" up to 1.18 and "tcp" later; before, that name stood for "tcp;ofi_rxm".
constexpr std::array<std::string_view, 1> for_one_host{"shm"};
constexpr std::array<std::string_view, 3> for_networks{"net", "tcp", "tcp;ofi_rxm"};
// Only where nothing else is: they lose by orders of magnitude.
constexpr std::array<std::string_view, 3> last{"UDP;ofi_rxd", "udp;ofi_rxd", "sockets"};

bool is_address(const std::string &text) {
    in6_addr any{};
    return inet_pton(AF_INET, text.c_str(), &any) == 1 || inet_pton(AF_INET6, text.c_str(), &any) == 1;
}

info_ptr make_hints(const fabric_settings &settings, bool one_sided) {
    info_ptr hints(fi_allocinfo());
    if (!hints)
        throw std::bad_alloc();
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | (one_sided ? FI_RMA : 0);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    // Calls for the endpoint and its queue are made under the device's lock; memory is enrolled from any
    // thread.
    hints->domain_attr->threading = FI_THREAD_COMPLETION;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED; // what does not fit is FI_EAGAIN, not lost
    hints->domain_attr->av_type = FI_AV_UNSPEC;
    if (!settings.provider.empty())
        hints->fabric_attr->prov_name = strdup(settings.provider.c_str());
    if (!settings.interface.empty() && !is_address(settings.interface))
        hints->domain_attr->name = strdup(settings.interface.c_str());
    return hints;
}

info_ptr ask(const fabric_settings &settings, bool one_sided) {
    const info_ptr hints = make_hints(settings, one_sided);
    const bool by_address = is_address(settings.interface);
    fi_info *found = nullptr;
    const int result = fi_getinfo(api, by_address ? settings.interface.c_str() : nullptr, nullptr,
                                  by_address ? FI_SOURCE : 0, hints.get(), &found);
    return info_ptr(result == 0 ? found : nullptr);
}

std::size_t place(std::span<const std::string_view> names, std::string_view name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Lower is better. Providers that share memory reach no other host, and say so by the form of their
// addresses.
std::size_t preference(const fi_info &info, const fabric_settings &settings) {
    const std::string_view name = info.fabric_attr->prov_name;
    constexpr std::size_t never = 1000;
    if (settings.provider.empty() && settings.where == reach::network && info.addr_format == FI_ADDR_STR)
        return never;
    if ((info.tx_attr->msg_order & FI_ORDER_SAS) == 0)
        return never;
    std::size_t result = 0;
    if (settings.where == reach::same_host) {
        result = place(for_one_host, name);
        if (result < for_one_host.size())
            return result;
    }
    const std::size_t among_networks = place(for_networks, name);
    return result + among_networks + (place(last, name) < last.size() ? last.size() : 0);
}

std::string what_there_is() {
    fi_info *all = nullptr;
    std::set<std::string> names;
    if (fi_getinfo(api, nullptr, nullptr, 0, nullptr, &all) == 0) {
        const info_ptr owner(all);
        for (const fi_info *each = all; each != nullptr; each = each->next)
            if (each->ep_attr->type == FI_EP_RDM)
                names.insert(each->fabric_attr->prov_name);
    }
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
}

[[noreturn]] void nothing_fits(const fabric_settings &settings) {
    std::string text = "libfabric has no ";
    text += settings.provider.empty() ? "provider" : "provider '" + settings.provider + "'";
    text += settings.where == reach::same_host ? " for ranks of this host" : " for the network";
    if (!settings.interface.empty())
        text += " on interface '" + settings.interface + "'";
    text +=
        " with reliable datagrams in order (FI_EP_RDM, FI_MSG, FI_ORDER_SAS). Here are: " + what_there_is();
    text +=
        ". Name one of these, or another interface; fi_info -t FI_EP_RDM shows them with their interfaces";
    throw std::runtime_error(text);
}

} // namespace

info_ptr choose_provider(const fabric_settings &settings) {
    for (const bool one_sided : {true, false}) {
        const info_ptr found = ask(settings, one_sided);
        const fi_info *best = nullptr;
        std::size_t best_preference = 1000;
        for (const fi_info *each = found.get(); each != nullptr; each = each->next) {
            const std::size_t its = preference(*each, settings);
            if (its < best_preference) {
                best = each;
                best_preference = its;
            }
        }
        if (best != nullptr)
            return info_ptr(fi_dupinfo(best));
    }
    nothing_fits(settings);
}

bool offers_delivery(const fi_info &chosen) {
    const info_ptr hints(fi_dupinfo(&chosen));
    if (!hints)
        return false;
    hints->tx_attr->op_flags |= FI_DELIVERY_COMPLETE;
    fi_info *found = nullptr;
    if (fi_getinfo(api, nullptr, nullptr, 0, hints.get(), &found) != 0)
        return false;
    fi_freeinfo(found);
    return true;
}

} // namespace fult::comm::detail
