#include "comm/bootstrap/pmi1_wire.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "fult/base/numbers.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::size_t max_line = 64 * 1024;
constexpr std::size_t count_digits = 8;
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
static_assert(alphabet.size() == 64, "a letter is six bits");

// Text from the server for a message: shortened, without control characters.
std::string shown(std::string_view text) {
    std::string result(text.substr(0, 80));
    std::replace_if(
        result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + result + (text.size() > 80 ? "...'" : "'");
}

std::string letters_of(std::string_view bytes) {
    std::string result;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(c);
        for (held += 8; held >= 6; held -= 6)
            result += alphabet[bits >> (held - 6) & 63];
    }
    if (held > 0)
        result += alphabet[bits << (6 - held) & 63];
    return result;
}

} // namespace

pmi1_reply::pmi1_reply(std::string_view line) : line_(line) {
    std::string_view rest(line_);
    while (!rest.empty()) {
        const std::size_t space = std::min(rest.find(' '), rest.size());
        const std::string_view word = rest.substr(0, space);
        rest.remove_prefix(std::min(space + 1, rest.size()));
        if (word.empty())
            continue;
        const std::size_t equals = word.find('=');
        // A single word belongs to plain text, such as msg=no such key.
        if (equals != std::string_view::npos)
            pairs_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    }
    if (!find("cmd"))
        throw pmi1_wire_error("an answer without cmd=: " + shown(line));
}

std::optional<std::string_view> pmi1_reply::find(std::string_view key) const noexcept {
    for (const auto &[name, value] : pairs_)
        if (name == key)
            return value;
    return {};
}

long pmi1_reply::number(std::string_view key, long low) const {
    const auto text = find(key);
    if (text)
        if (const auto value = fult::detail::whole_number<long>(*text); value && *value >= low)
            return *value;
    throw pmi1_wire_error(std::string(key) + " is missing or no number in " + shown(line_));
}

void pmi1_reply::expect(std::string_view cmd) const {
    if (find("cmd") != cmd)
        throw pmi1_wire_error(shown(line_) + " instead of cmd=" + std::string(cmd));
    if (find("rc") && number("rc", -1'000'000'000) != 0)
        throw pmi1_wire_error("refused: " + shown(line_));
}

void pmi1_lines::feed(std::string_view bytes) {
    bytes_.append(bytes);
    if (bytes_.size() > max_line && bytes_.find('\n') == std::string::npos)
        throw pmi1_wire_error("a line without an end");
}

std::optional<std::string> pmi1_lines::next() {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string::npos)
        return {};
    std::string line = bytes_.substr(0, end);
    bytes_.erase(0, end + 1);
    return line;
}

std::vector<std::string> pmi1_encode(std::string_view bytes, std::size_t most) {
    std::string all(count_digits, '0');
    char digits[count_digits];
    const auto written = std::to_chars(digits, digits + count_digits, bytes.size(), 16);
    const auto count = static_cast<std::size_t>(written.ptr - digits);
    all.replace(count_digits - count, count, digits, count);
    all += letters_of(bytes);
    std::vector<std::string> values;
    most = std::max(most, 2 * count_digits);
    for (std::size_t at = 0; at < all.size(); at += most)
        values.push_back(all.substr(at, most));
    return values;
}

void pmi1_decoder::take(std::string_view value) {
    if (!announced_) {
        const auto count = fult::detail::whole_number<std::size_t>(value.substr(0, count_digits), 16);
        if (value.size() < count_digits || !count || *count > most_)
            throw pmi1_wire_error("no value of ours: " + shown(value));
        announced_ = *count;
        value.remove_prefix(count_digits);
    } else if (value.empty()) {
        throw pmi1_wire_error("an empty value"); // otherwise the next value would be requested forever
    }
    if (value.size() > letters_needed() - letters_.size())
        throw pmi1_wire_error("more bytes than announced");
    letters_ += value;
}

std::string pmi1_decoder::bytes() const {
    if (!complete())
        throw pmi1_wire_error("bytes are missing");
    std::string result;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : letters_) {
        const std::size_t letter = alphabet.find(c);
        if (letter == std::string_view::npos)
            throw pmi1_wire_error("a letter that no value of ours has: " + shown({&c, 1}));
        bits = bits << 6 | static_cast<std::uint32_t>(letter);
        held += 6;
        if (held >= 8) {
            held -= 8;
            result += static_cast<char>(bits >> held & 0xff);
        }
    }
    return result;
}

} // namespace fult::comm::detail
