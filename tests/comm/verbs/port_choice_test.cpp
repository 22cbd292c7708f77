// The choice of device, port and GID, and its errors, from listings of hosts.
#include <algorithm>
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/verbs/port_choice.hpp"

namespace {

using namespace fult::comm::detail;

// Soft-RoCE on two ends of a wire.
constexpr char soft_roce[] = R"(
port rxe0 1 active ethernet
gid 0 fe80::1c2a:56ff:fe6d:4f01 v2 veth0
gid 1 ::ffff:10.99.0.1 v2 veth0
port rxe1 1 active ethernet
gid 0 fe80::d4c5:7fff:fe11:9a02 v2 veth1
gid 1 ::ffff:10.99.1.1 v2 veth1
)";

// An InfiniBand card of two ports, of which one has no cable, and an Ethernet card with a VLAN. Its kernel
// lists each address for both versions of RoCE.
constexpr char cluster_node[] = R"(
port mlx5_0 1 active infiniband
gid 0 fe80::ec0d:9a03:72:9f3a ib
port mlx5_0 2 down infiniband
gid 0 fe80::ec0d:9a03:72:9f3b ib
port mlx5_bond_0 1 active ethernet
gid 0 fe80::ba59:9fff:fe9e:3c1e v1 bond0
gid 1 fe80::ba59:9fff:fe9e:3c1e v2 bond0
gid 2 ::ffff:172.16.4.21 v1 bond0
gid 3 ::ffff:172.16.4.21 v2 bond0
gid 4 2001:db8:4::21 v1 bond0
gid 5 2001:db8:4::21 v2 bond0
gid 6 ::ffff:172.16.84.21 v1 bond0.84
gid 7 ::ffff:172.16.84.21 v2 bond0.84
)";

// An adapter of an old kernel, without addresses of IPv4; others that cannot be used.
constexpr char poor_node[] = R"(
port irdma0 1 down ethernet
port mlx4_0 1 waits infiniband
port qedr0 1 active ethernet
gid 0 fe80::20e:1eff:fec4:11a0 v1 eno1
gid 1 2001:db8:9::7 v1 eno1
port mlx5_9 1 closed ethernet
)";

ibv_gid_type type_of(const std::string &version) {
    static const std::map<std::string, ibv_gid_type> all{
        {"ib", IBV_GID_TYPE_IB}, {"v1", IBV_GID_TYPE_ROCE_V1}, {"v2", IBV_GID_TYPE_ROCE_V2}};
    return all.at(version);
}

listed_port port_in(std::istream &words) {
    static const std::map<std::string, ibv_port_state> states{{"active", IBV_PORT_ACTIVE},
                                                              {"down", IBV_PORT_DOWN},
                                                              {"waits", IBV_PORT_INIT},
                                                              {"closed", IBV_PORT_NOP}};
    listed_port port;
    unsigned number = 0;
    std::string state, layer;
    words >> port.device >> number >> state >> layer;
    port.number = static_cast<std::uint8_t>(number);
    port.state = states.at(state);
    port.is_ethernet = layer == "ethernet";
    if (state == "closed")
        port.fault = "does not open: Permission denied; this user may not open it";
    return port;
}

listed_gid gid_in(std::istream &words) {
    listed_gid gid;
    std::string address, version;
    words >> gid.entry.gid_index >> address >> version >> gid.interface;
    EXPECT_EQ(inet_pton(AF_INET6, address.c_str(), gid.entry.gid.raw), 1) << address;
    gid.entry.gid_type = type_of(version);
    return gid;
}

std::vector<listed_port> read_listing(const std::string &text) {
    std::vector<listed_port> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        if (what == "port")
            all.push_back(port_in(words));
        else if (what == "gid")
            all.back().gids.push_back(gid_in(words));
    }
    return all;
}

verbs_settings wants(const std::string &ports, unsigned index = 0, int gid = -1) {
    verbs_settings settings;
    settings.ports = ports;
    settings.index = index;
    settings.gid = gid;
    return settings;
}

// As `DEVICE:PORT GID`.
std::string chosen(const char *listing, const verbs_settings &settings) {
    const std::vector<listed_port> all = read_listing(listing);
    const port_choice which = choose_among(all, settings);
    const listed_port &port = all.at(which.index);
    return port.device + ":" + std::to_string(port.number) + " " + std::to_string(which.gid.gid_index);
}

std::string refusal(const char *listing, const verbs_settings &settings) {
    try {
        return "chosen: " + chosen(listing, settings);
    } catch (const std::runtime_error &e) {
        return e.what();
    }
}

TEST(port_choice, the_first_active_port_without_a_request) {
    EXPECT_EQ(chosen(soft_roce, wants("")), "rxe0:1 1");
    EXPECT_EQ(chosen(cluster_node, wants("")), "mlx5_0:1 0");
    EXPECT_EQ(chosen(poor_node, wants("")), "qedr0:1 1"); // version 1, and no link-local address
}

TEST(port_choice, devices_of_a_rank_take_the_ports_in_turn) {
    EXPECT_EQ(chosen(soft_roce, wants("", 1)), "rxe1:1 1");
    EXPECT_EQ(chosen(soft_roce, wants("", 2)), "rxe0:1 1");
    EXPECT_EQ(chosen(soft_roce, wants("rxe1,rxe0", 0)), "rxe1:1 1");
    EXPECT_EQ(chosen(soft_roce, wants("rxe1,rxe0", 1)), "rxe0:1 1");
    EXPECT_EQ(chosen(soft_roce, wants(",rxe1,", 5)), "rxe1:1 1"); // empty names do not count
}

TEST(port_choice, without_names_all_devices_use_one_kind_of_network) {
    EXPECT_EQ(chosen(cluster_node, wants("", 1)), "mlx5_0:1 0"); // not mlx5_bond_0
}

TEST(port_choice, by_device_port_interface_and_address) {
    EXPECT_EQ(chosen(cluster_node, wants("mlx5_0")), "mlx5_0:1 0");
    EXPECT_EQ(chosen(cluster_node, wants("mlx5_bond_0:1")), "mlx5_bond_0:1 3");
    EXPECT_EQ(chosen(cluster_node, wants("bond0")), "mlx5_bond_0:1 3");
    EXPECT_EQ(chosen(cluster_node, wants("bond0.84")), "mlx5_bond_0:1 7");
    EXPECT_EQ(chosen(cluster_node, wants("172.16.84.21")), "mlx5_bond_0:1 7");
    EXPECT_EQ(chosen(cluster_node, wants("2001:db8:4::21")), "mlx5_bond_0:1 5");
    EXPECT_EQ(chosen(soft_roce, wants("10.99.1.1")), "rxe1:1 1");
}

TEST(port_choice, a_gid_by_its_index) {
    EXPECT_EQ(chosen(cluster_node, wants("mlx5_bond_0", 0, 2)), "mlx5_bond_0:1 2");
    EXPECT_EQ(chosen(cluster_node, wants("", 0, 5)), "mlx5_bond_0:1 5"); // no other port has so many
    EXPECT_EQ(chosen(soft_roce, wants("rxe1", 0, 0)), "rxe1:1 0");
    EXPECT_NE(refusal(cluster_node, wants("bond0.84", 0, 3)).find("no active port"), std::string::npos);
}

TEST(port_choice, the_network_depends_on_layer_and_version) {
    ibv_gid_entry gid{};
    gid.gid_type = IBV_GID_TYPE_IB;
    EXPECT_STREQ(network_of(false, gid), "infiniband");
    gid.gid_type = IBV_GID_TYPE_ROCE_V1;
    EXPECT_STREQ(network_of(true, gid), "roce1");
    gid.gid_type = IBV_GID_TYPE_ROCE_V2;
    EXPECT_STREQ(network_of(true, gid), "roce2");
}

TEST(port_choice, errors_name_the_request_the_ports_and_what_to_do) {
    const auto expect_parts = [](const std::string &text, std::initializer_list<const char *> parts) {
        for (const char *part : parts)
            EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    };
    expect_parts(refusal("", wants("")), {"any port", "here are: none", "module"});
    expect_parts(refusal(cluster_node, wants("mlx5_0:2", 0, 7)),
                 {"'mlx5_0:2' (FULT_COMM_INTERFACE)", "GID 7 (FULT_COMM_GID)",
                  "mlx5_0:2 (down: check its cable)", "mlx5_bond_0:1 (GID 3, bond0 172.16.4.21)",
                  "mlx5_0:1 (GID 0, fe80::", "FULT_COMM_NETWORK", "ibv_devinfo"});
    expect_parts(refusal(poor_node, wants("irdma0")),
                 {"irdma0:1 (down: set its network interface up", "mlx4_0:1 (not active yet",
                  "subnet manager",
                  "mlx5_9:1 (does not open: Permission denied; this user may not open it)"});
    expect_parts(refusal("port rxe0 1 active ethernet\n", wants("")), {"rxe0:1 (no GID)"});
}

} // namespace
