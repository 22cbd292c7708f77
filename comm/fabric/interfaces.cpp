#include "comm/fabric/interfaces.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>

#include "fult/base/no_descriptor.hpp"

namespace fult::comm::detail {
namespace {

std::string printed(int family, const void *address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    return inet_ntop(family, address, text.data(), text.size()) ? text.data() : std::string();
}

// Such an address is meaningless without its interface, and providers do not accept both.
bool is_link_local(const sockaddr &address) {
    if (address.sa_family != AF_INET6)
        return false;
    sockaddr_in6 six{};
    std::memcpy(&six, &address, sizeof six);
    return IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr);
}

// Normalizes the spelling of an IPv6 address.
std::string normal(const std::string &address) {
    in6_addr six{};
    return inet_pton(AF_INET6, address.c_str(), &six) == 1 ? printed(AF_INET6, &six) : address;
}

} // namespace

std::string address_text(const void *address, std::size_t size) {
    sa_family_t family = AF_UNSPEC;
    if (address == nullptr || size < sizeof(sockaddr_in))
        return {};
    std::memcpy(&family, static_cast<const std::byte *>(address) + offsetof(sockaddr, sa_family),
                sizeof family);
    if (family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, address, sizeof four);
        return printed(AF_INET, &four.sin_addr);
    }
    if (family != AF_INET6 || size < sizeof(sockaddr_in6))
        return {};
    sockaddr_in6 six{};
    std::memcpy(&six, address, sizeof six);
    return printed(AF_INET6, &six.sin6_addr);
}

std::vector<interface_address> interface_addresses() {
    ifaddrs *all = nullptr;
    if (getifaddrs(&all) != 0)
        fult::detail::throw_no_descriptor(errno, "fult-comm: no list of network interfaces (getifaddrs)",
                                          "socket (AF_NETLINK)");
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    std::vector<interface_address> found;
    for (const int family : {AF_INET, AF_INET6})
        for (const ifaddrs *each = all; each != nullptr; each = each->ifa_next)
            if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == family &&
                (each->ifa_flags & IFF_UP) != 0 && !is_link_local(*each->ifa_addr))
                found.push_back(
                    {each->ifa_name, address_text(each->ifa_addr, family == AF_INET ? sizeof(sockaddr_in)
                                                                                    : sizeof(sockaddr_in6))});
    return found;
}

std::vector<interface_address> addresses_named(const std::string &name_or_address) {
    std::vector<interface_address> all = interface_addresses();
    const std::string address = normal(name_or_address);
    std::erase_if(all, [&](const interface_address &each) {
        return each.interface != name_or_address && each.text != address;
    });
    return all;
}

} // namespace fult::comm::detail
