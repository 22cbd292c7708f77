// Choice among the ports of a host's adapters, and of the GID under which others find the chosen one: by what
// a listing of them contains. ports.hpp opens and lists them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/verbs/library.hpp"
#include "comm/verbs/verbs.hpp"

namespace fult::comm::detail {

struct listed_gid {
    ibv_gid_entry entry{};
    std::string interface; // of the network; empty on InfiniBand
};

struct listed_port {
    std::string device;
    std::uint8_t number = 1;
    std::string fault; // why it does not open, and what to do; empty if it does. Then the rest is not known
    ibv_port_state state = IBV_PORT_NOP;
    bool is_ethernet = false;
    std::vector<listed_gid> gids;
};

struct port_choice {
    std::size_t index = 0; // in the listing
    ibv_gid_entry gid{};
};

// "infiniband", "roce1" or "roce2": ports of one kind can be connected.
const char *network_of(bool is_ethernet, const ibv_gid_entry &gid) noexcept;

// Throws std::runtime_error with the request, the ports, why they are not usable, and the remedy.
port_choice choose_among(std::span<const listed_port> all, const verbs_settings &settings);

} // namespace fult::comm::detail
