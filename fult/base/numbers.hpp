// Numbers in texts: digits alone, without blanks or a plus sign.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace fult::detail {

// The number at the beginning, which is removed from the text. Nothing if there is none, or it is too large.
template <class Number> std::optional<Number> leading_number(std::string_view &text, int base = 10) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

// All of the text as a number.
template <class Number> std::optional<Number> whole_number(std::string_view text, int base = 10) {
    const auto value = leading_number<Number>(text, base);
    return text.empty() ? value : std::nullopt;
}

// The number before `end`, and `end`: both are removed from the text if they are there.
template <class Number> std::optional<Number> number_before(std::string_view &text, char end, int base = 10) {
    std::string_view rest = text;
    const auto value = leading_number<Number>(rest, base);
    if (!value || !rest.starts_with(end))
        return std::nullopt;
    text = rest.substr(1);
    return value;
}

} // namespace fult::detail
