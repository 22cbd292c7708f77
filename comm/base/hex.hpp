// Bytes as letters and digits, which every launcher's key-value store accepts.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

namespace fult::comm::detail {

inline constexpr char hex_digits[] = "0123456789abcdef";

inline std::string to_hex(const std::string &bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += hex_digits[byte >> 4];
        text += hex_digits[byte & 15];
    }
    return text;
}

// Empty if it is no such text.
inline std::string from_hex(const std::string &text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const auto *const high = static_cast<const char *>(std::memchr(hex_digits, text[i], 16));
        const auto *const low = static_cast<const char *>(std::memchr(hex_digits, text[i + 1], 16));
        if (high == nullptr || low == nullptr)
            return {};
        bytes += static_cast<char>((high - hex_digits) * 16 + (low - hex_digits));
    }
    return bytes;
}

} // namespace fult::comm::detail
