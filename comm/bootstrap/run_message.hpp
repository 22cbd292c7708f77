#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Messages between fult-run and its ranks, over a socket on one machine: a header of 16 bytes, then a body.
// Both sides check every field before use.
namespace fult::comm::detail {

enum class run_kind : std::uint32_t {
    exchange = 1, // rank: body is its contribution, value the timeout in milliseconds
    barrier = 2,  // rank: value as above
    abort = 3,    // rank: value is the status, body the reason
    done = 4,     // launcher: body is the input of unpack_all(), empty after a barrier
    failed = 5,   // launcher: body is the reason, value a run_failure
    leave = 6,    // rank: it has closed its connection normally; its process may connect again
};

enum class run_failure : std::uint32_t {
    other,
    late_rank, // it may still arrive, and gets the same answer
};

struct run_message {
    run_kind kind = run_kind::done;
    std::uint32_t value = 0;
    std::string body;
};

// Limit for one machine.
constexpr int max_run_ranks = 1024;

// Thrown by run_stream: the bytes are not a valid message.
class run_message_error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// Encodes a message.
std::string printed(run_kind kind, std::uint32_t value, std::string_view body);

// Splits bytes into messages; the bytes may be fed in any portions.
class run_stream {
  public:
    // `most`: the maximum length of a body.
    explicit run_stream(std::size_t most) noexcept : most_(most) {}

    void feed(std::string_view bytes) { bytes_.append(bytes); }

    // The next complete message, if any. Throws run_message_error; the stream cannot be used afterwards.
    std::optional<run_message> next();

  private:
    std::size_t most_;
    std::string bytes_;
};

// The contributions of all ranks in one body: each preceded by its length in four bytes.
std::string pack_all(const std::vector<std::string> &parts);

// The inverse; nothing unless there are exactly `count` parts.
std::optional<std::vector<std::string>> unpack_all(std::string_view body, std::size_t count);

} // namespace fult::comm::detail
