/// @file
/// One-sided operations on registered memory: regions, put and get. No task of the target takes part. The
/// target's progress engine may have to act, so a rank whose workers are all busy computing responds late
/// (docs/communication.md, "Progress").
///
/// A put is complete when the bytes are in the target's memory, visible there to every thread that learns of
/// it by a message, a barrier or the put's own signal; a get when they are in the caller's memory. Operations
/// of one rank on another may be carried out in any order, and overlapping ones yield any mixture of their
/// bytes; where order matters, wait for one before starting the next.
///
/// Errors of all calls: std::out_of_range for bytes outside the region or a rank that does not exist;
/// std::invalid_argument for an empty endpoint and for a put to a read-only region; comm::error refused if
/// the target has deregistered the region, peer_failed if it has ended, peer_left if its context has. All
/// calls are legal from any task on any worker and from foreign threads, which block. Sources: section 2.2 of
/// PPL (one-sided operations, global references), section 5.2.6 of Dang's dissertation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>

#include <fult/comm/endpoint.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {
struct offered_region;
}
/// @endcond

/// Describes a region to other ranks, for put and get: a plain value that may be sent in a message.
struct remote_region {
    std::int32_t rank = -1;     ///< the owner of the memory: its number in the job
    std::uint32_t writable = 0; ///< whether put is allowed
    std::uint64_t id = 0;       ///< among the regions of that rank
    std::uint64_t size = 0;     ///< in bytes
};

/// Registers memory of this rank for access by other ranks during the object's lifetime. The caller owns the
/// memory, which must outlive the object. The owning rank may use the memory normally; bytes that others
/// write are unspecified until it has learned that the operation is complete.
class FULT_API region {
  public:
    region() noexcept; ///< empty
    /// Registers `size` bytes on the endpoint's device. Throws std::bad_alloc. Never suspends.
    region(endpoint &ep, void *base, std::size_t size);
    region(endpoint &ep, const void *base, std::size_t size); ///< read-only for others
    /// The elements of a range.
    template <plain_range R>
    region(endpoint &ep, R &range)
        : region(ep, std::ranges::data(range),
                 std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)) {}
    region(region &&other) noexcept;            ///< leaves the other empty
    region &operator=(region &&other) noexcept; ///< deregisters its own memory first
    /// Deregisters the memory: no rank accesses it afterwards. Operations that start later, or that have not
    /// transferred all parts, fail with errc::refused; transfers in progress are waited for. May suspend.
    /// Must precede the end of the context.
    ~region();

    /// False if it is empty.
    [[nodiscard]] bool valid() const noexcept { return what_ != nullptr; }
    remote_region remote() const noexcept; ///< of rank -1 if the region is empty

  private:
    std::unique_ptr<detail::offered_region> what_;
};

/// Writes at byte offset `offset` of a region of any rank of the endpoint, including this one. put suspends
/// until complete; iput never suspends, and the memory is in use until the request is complete.
FULT_API void put(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                  std::size_t offset);
/// See put.
FULT_API request iput(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                      std::size_t offset);

/// Like put; then an empty message with that tag arrives at the target's endpoint `ep`, as if sent by
/// endpoint::send: it goes to a recv, to the endpoint's queue or to its handler, and the bytes are visible
/// then. Not ordered with messages of send.
FULT_API void put_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                         std::size_t offset, tag_type tag);
/// See put_signal. Never suspends.
FULT_API request iput_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                             std::size_t offset, tag_type tag);

/// Reads `size` bytes from offset `offset`.
FULT_API void get(endpoint &ep, void *data, std::size_t size, const remote_region &from, std::size_t offset);
/// See get. Never suspends; the memory is in use until the request is complete.
FULT_API request iget(endpoint &ep, void *data, std::size_t size, const remote_region &from,
                      std::size_t offset);

/// The same for ranges; offsets are in bytes.
template <plain_range R>
void put(endpoint &ep, const R &range, const remote_region &to, std::size_t offset = 0) {
    put(ep, std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to,
        offset);
}
/// The same for ranges.
template <plain_range R>
request iput(endpoint &ep, const R &range, const remote_region &to, std::size_t offset = 0) {
    return iput(ep, std::ranges::data(range),
                std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to, offset);
}
/// The same for ranges.
template <plain_range R>
void put_signal(endpoint &ep, const R &range, const remote_region &to, std::size_t offset, tag_type tag) {
    put_signal(ep, std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
               to, offset, tag);
}
/// The same for ranges.
template <plain_range R>
request iput_signal(endpoint &ep, const R &range, const remote_region &to, std::size_t offset, tag_type tag) {
    return iput_signal(ep, std::ranges::data(range),
                       std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to, offset, tag);
}
/// The same for ranges.
template <plain_range R>
void get(endpoint &ep, R &&range, const remote_region &from, std::size_t offset = 0) {
    get(ep, std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), from,
        offset);
}
/// The same for ranges.
template <plain_range R>
request iget(endpoint &ep, R &&range, const remote_region &from, std::size_t offset = 0) {
    return iget(ep, std::ranges::data(range),
                std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), from, offset);
}

} // namespace fult::comm
