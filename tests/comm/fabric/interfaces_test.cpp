// FULT_COMM_INTERFACE on a host with several interfaces: in a network namespace with two interfaces.
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "comm/fabric/interfaces.hpp"
#include "tests/comm/fabric/ranks.hpp"

namespace {

using namespace fabric_ranks;

struct impossible {};

void demand(bool holds) {
    if (!holds)
        throw impossible();
}

void write_to(const std::string &path, const std::string &text) {
    std::ofstream out(path);
    out << text;
    out.close();
    demand(static_cast<bool>(out));
}

void enter_namespace() {
    const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
    if (geteuid() != 0) {
        demand(unshare(CLONE_NEWUSER) == 0);
        write_to("/proc/self/setgroups", "deny");
        write_to("/proc/self/uid_map", "0 " + user + " 1");
        write_to("/proc/self/gid_map", "0 " + group + " 1");
    }
    demand(unshare(CLONE_NEWNET) == 0);
}

ifreq named(const char *name) {
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    return request;
}

void bring_up(int control, const char *name) {
    ifreq request = named(name);
    demand(ioctl(control, SIOCGIFFLAGS, &request) == 0);
    request.ifr_flags |= IFF_UP;
    demand(ioctl(control, SIOCSIFFLAGS, &request) == 0);
}

// A TUN device; it lasts as long as its descriptor, which is left open.
void make_interface(int control, const char *name, std::uint32_t address, bool up) {
    const int tun = open("/dev/net/tun", O_RDWR);
    demand(tun >= 0);
    ifreq request = named(name);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    demand(ioctl(tun, TUNSETIFF, &request) == 0);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(address);
    request = named(name);
    std::memcpy(&request.ifr_addr, &four, sizeof four);
    demand(ioctl(control, SIOCSIFADDR, &request) == 0);
    if (up)
        bring_up(control, name);
    else {
        request = named(name);
        demand(ioctl(control, SIOCSIFFLAGS, &request) == 0);
    }
}

// In a process of its own, in a network namespace without an interface that is up.
void without_interfaces(const std::function<void()> &body) {
    constexpr int no_namespace = 78;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        int status = 1;
        try {
            enter_namespace();
            body();
            status = 0;
        } catch (const impossible &) {
            status = no_namespace;
        } catch (const std::exception &error) {
            std::fprintf(stderr, "%s\n", error.what());
        }
        _exit(status);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == no_namespace)
        GTEST_SKIP() << "no network namespace with TUN devices";
    EXPECT_EQ(status, 0);
}

// In one with the interfaces fulta and fultb; fultc is down.
void with_two_interfaces(const std::function<void()> &body) {
    without_interfaces([&] {
        const int control = socket(AF_INET, SOCK_DGRAM, 0);
        bring_up(control, "lo");
        make_interface(control, "fulta", 0x0a4e0001, true);
        make_interface(control, "fultb", 0x0a4f0001, true);
        make_interface(control, "fultc", 0x0a500001, false);
        body();
    });
}

fabric_settings over(const std::string &provider, const std::string &interface) {
    fabric_settings settings;
    settings.provider = provider;
    settings.interface = interface;
    settings.name = job();
    settings.sleep = false;
    return settings;
}

// The address for connections, or the error.
std::string opened(const std::string &provider, const std::string &interface) {
    try {
        return open_fabric(over(provider, interface))->address();
    } catch (const std::runtime_error &error) {
        return error.what();
    }
}

TEST(interfaces, each_provider_uses_the_one_that_was_asked_for) {
    with_two_interfaces([] {
        int providers = 0;
        for (const char *provider : {"", "net", "tcp", "tcp;ofi_rxm", "udp;ofi_rxd", "sockets"}) {
            if (opened(provider, "").find("libfabric has no provider") != std::string::npos)
                continue;
            ++providers;
            for (const auto &[interface, address] : {std::pair("fulta", "0a4e0001"),
                                                     {"fultb", "0a4f0001"},
                                                     {"10.78.0.1", "0a4e0001"},
                                                     {"lo", "7f000001"}}) {
                const std::string where = opened(provider, interface);
                require(where.find(address) != std::string::npos,
                        std::string("'") + provider + "' on " + interface + ": " + where);
            }
        }
        require(providers > 0, "no provider");
    });
}

TEST(interfaces, one_that_is_unusable_is_an_error_that_lists_the_others) {
    with_two_interfaces([] {
        for (const char *provider : {"", "net", "tcp;ofi_rxm"})
            for (const char *interface : {"eth77", "fultc", "10.80.0.1", "10.1.2.3", "fult"}) {
                const std::string text = opened(provider, interface);
                for (const char *part :
                     {interface, "FULT_COMM_INTERFACE", "fulta (10.78.0.1)", "fultb (10.79.0.1)"})
                    require(text.find(part) != std::string::npos, text + " lacks " + part);
            }
    });
}

TEST(interfaces, none_at_all_is_an_error) {
    without_interfaces([] {
        for (const char *provider : {"", "net", "tcp;ofi_rxm"}) {
            const std::string text = opened(provider, "");
            require(text.find("libfabric has no provider") != text.npos ||
                        text.find("there is no network: no interface of this host") != text.npos,
                    text);
        }
        const std::string text = opened("", "");
        require(text.find("`ip link set lo up`") != text.npos, text);
    });
}

TEST(interfaces, addresses_are_found_by_name_and_by_themselves) {
    for (const auto &each : fult::comm::detail::addresses_named("127.0.0.1"))
        EXPECT_EQ(each.text, "127.0.0.1");
    const auto all = fult::comm::detail::addresses_named("lo");
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all[0].text, "127.0.0.1");
    EXPECT_TRUE(fult::comm::detail::addresses_named("127.0.0.256").empty());
    EXPECT_EQ(fult::comm::detail::address_text(nullptr, 16), "");
}

} // namespace
