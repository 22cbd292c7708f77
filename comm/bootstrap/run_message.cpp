#include "comm/bootstrap/run_message.hpp"

#include <cstring>

namespace fult::comm::detail {
namespace {

constexpr std::uint32_t magic = 0x4e525546; // "FURN"

struct header {
    std::uint32_t magic;
    std::uint32_t kind;
    std::uint32_t value;
    std::uint32_t length;
};

} // namespace

std::string printed(run_kind kind, std::uint32_t value, std::string_view body) {
    const header h{magic, static_cast<std::uint32_t>(kind), value, static_cast<std::uint32_t>(body.size())};
    std::string result(sizeof h + body.size(), '\0');
    std::memcpy(result.data(), &h, sizeof h);
    body.copy(result.data() + sizeof h, body.size());
    return result;
}

std::optional<run_message> run_stream::next() {
    header h{};
    if (bytes_.size() < sizeof h)
        return {};
    std::memcpy(&h, bytes_.data(), sizeof h);
    if (h.magic != magic || h.kind < static_cast<std::uint32_t>(run_kind::exchange) ||
        h.kind > static_cast<std::uint32_t>(run_kind::leave))
        throw run_message_error("bytes that are no message");
    if (h.length > most_)
        throw run_message_error("a message of " + std::to_string(h.length) + " bytes, where " +
                                std::to_string(most_) + " are allowed");
    if (bytes_.size() < sizeof h + h.length)
        return {};
    run_message result{static_cast<run_kind>(h.kind), h.value, bytes_.substr(sizeof h, h.length)};
    bytes_.erase(0, sizeof h + h.length);
    return result;
}

std::string pack_all(const std::vector<std::string> &parts) {
    std::string result;
    for (const std::string &part : parts) {
        const auto length = static_cast<std::uint32_t>(part.size());
        result.append(reinterpret_cast<const char *>(&length), sizeof length);
        result.append(part);
    }
    return result;
}

std::optional<std::vector<std::string>> unpack_all(std::string_view body, std::size_t count) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t length = 0;
        if (body.size() < sizeof length)
            return {};
        std::memcpy(&length, body.data(), sizeof length);
        body.remove_prefix(sizeof length);
        if (body.size() < length)
            return {};
        result.emplace_back(body.substr(0, length));
        body.remove_prefix(length);
    }
    if (!body.empty())
        return {};
    return result;
}

} // namespace fult::comm::detail
