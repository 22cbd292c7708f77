// The network interfaces of this host, by name and by address: FULT_COMM_INTERFACE.
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

// Those of the interfaces that are up, IPv4 first. Throws std::system_error.
std::vector<interface_address> interface_addresses();

// Of those, the ones of the interface of that name, or the one that is this address; none: there is no such.
std::vector<interface_address> addresses_named(const std::string &name_or_address);

// An address as a provider states it, in the form above; empty where it is none of the internet's.
std::string address_text(const void *address, std::size_t size);

} // namespace fult::comm::detail
