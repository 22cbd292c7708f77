#include "comm/packets/wire.hpp"

namespace fult::comm::detail {

record_reader::record_reader(std::span<const std::byte> bytes, std::uint32_t ranks) noexcept : rest_(bytes) {
    const auto head = body_as<packet_head>(bytes);
    ok_ = head && head->magic == packet_head::expected && head->source < ranks;
    if (!ok_)
        return;
    source_ = head->source;
    rest_ = bytes.subspan(sizeof(packet_head));
}

} // namespace fult::comm::detail
