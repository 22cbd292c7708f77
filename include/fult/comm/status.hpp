/// @file
/// The envelope of a message, and errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <fult/detail/platform.hpp>

namespace fult::comm {

/// For receives and probes on endpoints with wildcards: any rank.
inline constexpr int any_source = -1;
/// Any tag.
inline constexpr std::int64_t any_tag = -1;

/// Ranks and tags of a job: 0 ... most_ranks - 1, 0 ... 2^32 - 1.
inline constexpr int most_ranks = 1 << 20;

/// The envelope of a received message.
struct status {
    int source = -1;       ///< the rank that sent it
    std::uint32_t tag = 0; ///< as given by the sender
    std::size_t size = 0;  ///< in bytes
};

/// Errors of operations.
enum class errc {
    none,
    truncated,   ///< the message was longer than the buffer; it is lost, and the buffer is unspecified
    peer_failed, ///< the other rank has ended or is unreachable; from any_source: all others
    cancelled,   ///< the operation was cancelled
    retry,       ///< no space at present: let other tasks run, then try again
    refused,     ///< the region is not, or no longer, registered, or does not allow the operation
    peer_left    ///< the other rank's context has ended, and nothing that is needed will arrive from it; from
                 ///< any_source: those of all others
};

/// Thrown by the calls of fult::comm if a message cannot be sent or received. Invalid arguments throw
/// std::invalid_argument or std::out_of_range instead.
class FULT_API error : public std::runtime_error {
  public:
    /// Called by the library.
    error(errc code, const std::string &what) : std::runtime_error(what), code_(code) {}
    ~error() override;
    /// The kind of error.
    errc code() const noexcept { return code_; }

  private:
    errc code_;
};

} // namespace fult::comm
