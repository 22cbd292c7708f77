#include "comm/wire.hpp"

namespace fult::comm::detail {

record_reader::record_reader(std::span<const std::byte> bytes, std::uint32_t ranks) noexcept : rest_(bytes) {
    const auto head = body_as<packet_head>(bytes);
    ok_ = head && head->magic == packet_head::expected && head->source < ranks;
    if (!ok_)
        return;
    source_ = head->source;
    rest_ = bytes.subspan(sizeof(packet_head));
}

std::optional<record_view> record_reader::next() noexcept {
    if (!ok_ || rest_.empty())
        return std::nullopt;
    const auto head = body_as<record_head>(rest_);
    if (!head || head->kind == 0 || head->kind > last_record ||
        padded(head->size) > rest_.size() - sizeof(record_head)) {
        ok_ = false;
        return std::nullopt;
    }
    const record_view view{static_cast<record>(head->kind), head->flags, head->endpoint, head->tag,
                           rest_.subspan(sizeof(record_head), head->size)};
    rest_ = rest_.subspan(record_bytes(head->size));
    return view;
}

} // namespace fult::comm::detail
