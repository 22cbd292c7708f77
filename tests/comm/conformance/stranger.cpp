// A process outside a job that sends packets to one of its ranks over the network. stranger PROVIDER PORT
// RANK sends to the rank at that port of this host, pretending to be RANK, packets of each kind in turn,
// until it is killed or the rank has ended.
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>
#include <sched.h>
#include <span>
#include <string>
#include <vector>

#include "comm/fabric/fabric.hpp"
#include "comm/packets/wire.hpp"

namespace {

using namespace fult::comm::detail;

using bytes = std::vector<std::byte>;

template <class T> void put(bytes &to, const T &value) {
    for (const std::byte each : std::as_bytes(std::span<const T, 1>(&value, 1)))
        to.push_back(each); // one by one: g++ 12 warns of an insert, for no reason
}

// A packet that a rank would accept: a message to its world, tag 1.
void put_message(bytes &to) {
    put(to, record_head{static_cast<std::uint8_t>(record::eager), 0, 2, 1, 8, 0});
    put(to, std::uint64_t{0x666});
}

std::vector<bytes> kinds_of_packets(std::uint32_t source, std::mt19937_64 &random) {
    const packet_head head{packet_head::expected, source};
    std::vector<bytes> all(5);
    put(all[0], head);
    put_message(all[0]);
    put(all[1], guarded_head{head, random()});
    put_message(all[1]);
    put(all[2], guarded_head{head, 0});
    put_message(all[2]);
    put(all[3], head);
    for (int i = 0; i < 5; ++i)
        put(all[4], random());
    return all;
}

// As fabric_endpoint::address has it.
std::string address_of(const std::string &provider, std::uint16_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    std::string whole = provider + '\0';
    whole.append(reinterpret_cast<const char *>(&at), sizeof at);
    std::string text;
    for (const char each : whole) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(each));
        text += digits;
    }
    return text;
}

void poll(transport &network) {
    event events[16];
    network.poll(events);
    ::sched_yield();
}

} // namespace

int main(int, char **arguments) {
    try {
        fabric_settings settings;
        settings.provider = arguments[1];
        settings.interface = "127.0.0.1";
        settings.rank = 1;
        settings.expected_ranks = 2;
        const auto network = open_fabric(settings);
        const std::vector<std::string> addresses{
            address_of(settings.provider, static_cast<std::uint16_t>(std::atoi(arguments[2]))), ""};
        network->connect(addresses);
        std::mt19937_64 random{1};
        const auto source = static_cast<std::uint32_t>(std::atoi(arguments[3]));
        for (;; poll(*network))
            for (const bytes &each : kinds_of_packets(source, random)) {
                outcome how;
                while ((how = network->inject(0, each.data(), each.size())) == outcome::again)
                    poll(*network);
                if (how == outcome::failed) {
                    std::fprintf(stderr, "the rank cannot be reached\n");
                    return 1;
                }
            }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
