// The network interfaces of this host, by name and address: FULT_COMM_INTERFACE.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace fult::comm::detail {

struct interface_address {
    std::string interface; // "eth0"
    std::string text;      // "10.0.0.1"
};

// Addresses of the interfaces that are up, IPv4 first. Throws std::system_error.
std::vector<interface_address> interface_addresses();

// Those of the interface with that name, or the one with that address; empty if there is none.
std::vector<interface_address> addresses_named(const std::string &name_or_address);

// The text form of a provider's address; empty unless it is an internet address.
std::string address_text(const void *address, std::size_t size);

} // namespace fult::comm::detail
