#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The PMI-1 wire format: lines of key=value pairs separated by spaces, the first being cmd=. All functions
// here parse and check received bytes; none reads a socket.
namespace fult::comm::detail {

// Thrown on invalid input.
class pmi1_wire_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A line without its newline. The server determines the order of the keys.
class pmi1_reply {
  public:
    // Throws pmi1_wire_error: no key=value pairs, or no cmd among them.
    explicit pmi1_reply(std::string_view line);

    // The value of a key, the first one if it occurs twice.
    std::optional<std::string_view> find(std::string_view key) const noexcept;

    // A required number, at least `low`. Throws pmi1_wire_error.
    long number(std::string_view key, long low) const;

    // Throws pmi1_wire_error unless the line has `cmd` and, if it has an rc, rc=0.
    void expect(std::string_view cmd) const;

  private:
    std::string line_;
    std::vector<std::pair<std::string, std::string>> pairs_;
};

// Splits bytes into lines; the bytes may be fed in any portions.
class pmi1_lines {
  public:
    // Throws pmi1_wire_error if a line does not end within 64 KiB.
    void feed(std::string_view bytes);
    std::optional<std::string> next();

  private:
    std::string bytes_;
};

// Encodes arbitrary bytes as values that any server stores: letters, digits, - and _ (base64url without
// padding). The first value begins with the number of bytes in eight hexadecimal digits. Every value has at
// most `most` characters; `most` is at least 16.
std::vector<std::string> pmi1_encode(std::string_view bytes, std::size_t most);

// The inverse, one value at a time.
class pmi1_decoder {
  public:
    // `most`: the maximum number of bytes to accept.
    explicit pmi1_decoder(std::size_t most) noexcept : most_(most) {}

    // Throws pmi1_wire_error: not an encoded value, or more bytes than announced.
    void take(std::string_view value);

    bool complete() const noexcept { return announced_ && letters_.size() == letters_needed(); }

    // Call when complete. Throws pmi1_wire_error: an invalid character.
    std::string bytes() const;

  private:
    std::size_t letters_needed() const noexcept { return (*announced_ * 4 + 2) / 3; }

    std::size_t most_;
    std::optional<std::size_t> announced_;
    std::string letters_;
};

} // namespace fult::comm::detail
