#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// What fult-run and its ranks say to each other, over a socket on one machine: a header of 16 bytes, then a
// body. Both sides check every field before they use it.
namespace fult::comm::detail {

enum class run_kind : std::uint32_t {
    exchange = 1, // rank: body is its contribution, value how long it waits, in milliseconds
    barrier = 2,  // rank: value as above
    abort = 3,    // rank: value is the status, body says why
    done = 4,     // launcher: body is what unpack_all() reads, nothing after a barrier
    failed = 5,   // launcher: body says why
    leave = 6,    // rank: it has ended its connection in good order; its process may connect again
};

struct run_message {
    run_kind kind = run_kind::done;
    std::uint32_t value = 0;
    std::string body;
};

// More ranks than that are not for one machine.
constexpr int run_most_ranks = 1024;

// Thrown by run_stream: the bytes are no message.
class run_message_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A message as bytes.
std::string printed(run_kind kind, std::uint32_t value, std::string_view body);

// Bytes as messages, in whatever pieces they come.
class run_stream {
  public:
    // `most`: the longest body to accept.
    explicit run_stream(std::size_t most) noexcept : most_(most) {}

    void feed(std::string_view bytes) { bytes_.append(bytes); }

    // The next whole message, if there is one. Throws run_message_error; the stream is of no use after that.
    std::optional<run_message> next();

  private:
    std::size_t most_;
    std::string bytes_;
};

// The contributions of all ranks in one body: a length of four bytes before each.
std::string pack_all(const std::vector<std::string> &parts);

// The reverse; nothing if it is not exactly `count` parts.
std::optional<std::vector<std::string>> unpack_all(std::string_view body, std::size_t count);

} // namespace fult::comm::detail
