/// @file
/// The envelope of a message, and errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fult/detail/platform.hpp>

namespace fult::comm {

/// For receives and probes on endpoints with wildcards: any rank.
inline constexpr int any_source = -1;
/// A tag as calls take it: 0 ... 2^32 - 1, or any_tag where a message is received.
using tag_type = std::int64_t;
/// Any tag.
inline constexpr tag_type any_tag = -1;

/// Ranks and tags of a job: 0 ... max_ranks - 1, 0 ... 2^32 - 1.
inline constexpr int max_ranks = 1 << 20;

/// The envelope of a received message.
struct status {
    int source = -1; ///< the rank that sent it
    std::uint32_t tag =
        0; ///< as given by the sender: never any_tag, and half of tag_type's bytes in each message
    std::size_t size = 0; ///< in bytes
};

/// Errors of operations, as values of std::error_code. Those for which POSIX has a name are equivalent to it:
/// truncated to std::errc::message_size, cancelled to operation_canceled, retry to
/// resource_unavailable_try_again, refused to permission_denied.
enum class [[nodiscard]] errc{
    none,
    truncated,   ///< the message was longer than the buffer; it is lost, and the buffer is unspecified
    peer_failed, ///< the other rank has ended or is unreachable; from any_source: all others
    cancelled,   ///< the operation was cancelled
    retry,       ///< no space at present: let other tasks run, then try again
    refused,     ///< the region is not, or no longer, registered, or does not allow the operation
    peer_left    ///< the other rank's context has ended, and nothing that is needed will arrive from it; from
                 ///< any_source: those of all others
};

} // namespace fult::comm

/// @cond internal
template <> struct std::is_error_code_enum<fult::comm::errc> : std::true_type {};
/// @endcond

namespace fult::comm {

/// The category of errc, named "fult-comm". Never suspends.
FULT_API const std::error_category &category() noexcept;
/// Makes errc a std::error_code.
inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), category()}; }

/// Thrown by the calls of fult::comm if a message cannot be sent or received: code() is an errc. Invalid
/// arguments throw std::invalid_argument or std::out_of_range instead.
class FULT_API error : public std::system_error {
  public:
    /// Called by the library.
    error(errc code, const std::string &text) : std::system_error(code), text_(text) {}
    error(const error &) = default;            ///< never throws
    error &operator=(const error &) = default; ///< never throws
    ~error() override;
    /// What went wrong, where, and the remedy.
    const char *what() const noexcept override;

  private:
    std::runtime_error text_; // copies without throwing
};

/// @cond internal
namespace detail {
inline errc code_of(const error &failure) noexcept { return static_cast<errc>(failure.code().value()); }
} // namespace detail
/// @endcond

} // namespace fult::comm
