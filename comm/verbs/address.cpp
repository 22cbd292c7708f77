#include "comm/verbs/address.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fult/detail/assertion.hpp>

#include "comm/base/hex.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::string_view maker = "verbs"; // then a zero, as in addresses of other transports

} // namespace

std::string to_text(const verbs_address &address) {
    FULT_ASSERT(address.network[sizeof address.network - 1] == '\0');
    std::string bytes(maker);
    bytes += '\0';
    bytes.append(reinterpret_cast<const char *>(&address), sizeof address);
    return to_hex(bytes);
}

std::string maker_of(const std::string &text) {
    const std::string bytes = from_hex(text);
    return {bytes.begin(), std::find(bytes.begin(), bytes.end(), '\0')};
}

std::optional<verbs_address> parse_verbs_address(const std::string &text) {
    const std::string bytes = from_hex(text);
    verbs_address address;
    if (maker_of(text) != maker || bytes.size() != maker.size() + 1 + sizeof address)
        return std::nullopt;
    std::memcpy(&address, bytes.data() + maker.size() + 1, sizeof address);
    const bool valid = address.network[sizeof address.network - 1] == '\0' &&
                       address.qp_number >> number_bits == 0 && address.mtu >= IBV_MTU_256 &&
                       address.mtu <= IBV_MTU_4096;
    return valid ? std::optional(address) : std::nullopt;
}

std::optional<greeting> parse_greeting(std::span<const std::byte> bytes, std::uint64_t token,
                                       std::uint32_t ranks, std::uint32_t self) noexcept {
    greeting g;
    if (bytes.size() != sizeof g)
        return std::nullopt;
    std::memcpy(&g, bytes.data(), sizeof g);
    const bool known = g.kind == greeting_kind::ask || g.kind == greeting_kind::confirm;
    const bool valid = g.magic == greeting::expected && known && g.token == token && g.rank < ranks &&
                       g.rank != self && g.qp_number >> number_bits == 0 && g.psn >> number_bits == 0;
    return valid ? std::optional(g) : std::nullopt;
}

} // namespace fult::comm::detail
