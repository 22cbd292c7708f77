// What is said about a message, and what may go wrong with one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <fult/detail/platform.hpp>

namespace fult::comm {

// For receives and probes on endpoints that were made with wildcards: whichever rank.
inline constexpr int any_source = -1;
// Whichever tag.
inline constexpr std::int64_t any_tag = -1;

// Ranks and tags of a job: 0 ... most_ranks - 1, 0 ... 2^32 - 1.
inline constexpr int most_ranks = 1 << 20;

// A message that was received.
struct status {
    int source = -1;       // the rank that sent it
    std::uint32_t tag = 0; // as the sender gave it
    std::size_t size = 0;  // in bytes
};

// What may go wrong with one.
enum class errc {
    none,
    truncated,   // the message was longer than the buffer; it is gone, and the buffer is unspecified
    peer_failed, // the other rank has ended, or cannot be reached any more; from any_source: all others have
    cancelled,   // the operation was taken back
    retry,       // no room at present: let others run, then try again
    refused,     // the region is not, or no longer, there, or not for that
    peer_left    // the other rank's context has ended, and nothing that is still needed comes from it; from
                 // any_source: those of all others have
};

// Thrown by the calls of fult::comm where a message cannot be sent or received. Wrong arguments throw
// std::invalid_argument or std::out_of_range instead.
class FULT_API error : public std::runtime_error {
  public:
    // Made by the library.
    error(errc code, const std::string &what) : std::runtime_error(what), code_(code) {}
    ~error() override;
    // What went wrong.
    errc code() const noexcept { return code_; }

  private:
    errc code_;
};

} // namespace fult::comm
