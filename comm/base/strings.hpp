// Several strings encoded as one, for the exchange between ranks.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fult::comm::detail {

template <class Parts> std::string join_strings(const Parts &parts) {
    std::string all;
    for (const std::string_view part : parts) {
        const auto size = static_cast<std::uint32_t>(part.size());
        all.append(reinterpret_cast<const char *>(&size), sizeof size);
        all.append(part);
    }
    return all;
}

inline std::string join_strings(std::initializer_list<std::string_view> parts) {
    return join_strings<std::initializer_list<std::string_view>>(parts);
}

[[noreturn]] inline void throw_unknown_strings() {
    throw std::runtime_error(
        "fult-comm: another rank introduced itself in a way that this version does not know; "
        "start all ranks from one build");
}

// Throws std::runtime_error unless there are exactly `count`.
inline std::vector<std::string> split_strings(std::string_view all, std::size_t count) {
    std::vector<std::string> parts;
    while (!all.empty()) {
        std::uint32_t size = 0;
        if (all.size() < sizeof size)
            break;
        std::memcpy(&size, all.data(), sizeof size);
        all.remove_prefix(sizeof size);
        if (size > all.size())
            break;
        parts.emplace_back(all.substr(0, size));
        all.remove_prefix(size);
    }
    if (!all.empty() || parts.size() != count)
        throw_unknown_strings();
    return parts;
}

} // namespace fult::comm::detail
