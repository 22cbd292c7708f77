// Choice of an adapter's port, and of the GID under which others find it.
#pragma once

#include <cstdint>
#include <string>

#include "comm/verbs/objects.hpp"
#include "comm/verbs/verbs.hpp"

namespace fult::comm::detail {

// An open port of an adapter.
struct verbs_port {
    verbs_ptr<ibv_context> device;
    std::string name; // of the device and the port
    std::uint8_t number = 1;
    ibv_port_attr attributes{};
    ibv_device_attr limits{};
    ibv_gid_entry gid{};

    bool is_ethernet() const noexcept { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
    // "infiniband", "roce1" or "roce2": ports of one kind can be connected.
    const char *network() const noexcept;
};

// Throws std::runtime_error.
verbs_port choose_port(const verbs_settings &settings);

// True if this host has any adapter. Cheap: does not load libibverbs.
bool has_adapters() noexcept;

} // namespace fult::comm::detail
