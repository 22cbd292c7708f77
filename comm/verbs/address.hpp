// What ranks publish to be found, and the datagrams by which two of them connect. All input is validated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "comm/verbs/library.hpp"

namespace fult::comm::detail {

// Known to the ranks of the job only: they get it from the bootstrap.
struct verbs_address {
    char network[12] = {}; // verbs_port::network
    ibv_gid gid{};
    std::uint64_t token = 0; // proves that a greeting is from a rank of the job
    std::uint32_t qp_number = 0;
    std::uint32_t qkey = 0;
    std::uint16_t lid = 0;
    std::uint16_t mtu = 0; // an ibv_mtu
    std::uint32_t unused = 0;
};
static_assert(sizeof(verbs_address) == 56);

std::string to_text(const verbs_address &address);
// Nothing if it is no such address.
std::optional<verbs_address> parse_verbs_address(const std::string &text);
// The transport that has made the text, as far as it can be recognized; for messages.
std::string maker_of(const std::string &text);

enum class greeting_kind : std::uint32_t {
    ask = 1, // these are the sender's numbers; it does not know that the receiver has them: answer
    confirm  // these are the sender's numbers, and it is ready to receive on the connection
};
// Asks a rank to connect, or confirms that it may send.
struct greeting {
    static constexpr std::uint32_t expected = 0x31564c46; // "FLV1": changes with the format
    std::uint32_t magic = expected;
    greeting_kind kind = greeting_kind::ask;
    std::uint64_t token = 0; // of the receiver
    std::uint32_t rank = 0;
    std::uint32_t qp_number = 0;
    std::uint32_t psn = 0; // number of the first packet
    std::uint32_t unused = 0;
};
static_assert(sizeof(greeting) == 32);

inline constexpr std::uint32_t number_bits = 24; // of queue pairs and packets

// Nothing if the bytes are no greeting to the owner of the token from a rank other than `self`.
std::optional<greeting> parse_greeting(std::span<const std::byte> bytes, std::uint64_t token,
                                       std::uint32_t ranks, std::uint32_t self) noexcept;

} // namespace fult::comm::detail
