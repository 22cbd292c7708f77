// Memory that other ranks write and read without a task of its rank taking part: regions, put and get. The
// target's communication server does what there is to do, so that a rank whose workers all compute answers
// late (docs/communication.md, "Who polls").
//
// A put or get is complete when all is done: the bytes of a put lie in the target's memory, seen there by
// whoever learns of it by a message, a barrier or the put's own signal; those of a get in the caller's.
// Operations of one rank on one other may be carried out in any order, and overlapping ones give any mixture
// of their bytes; wait for one before the next where that matters.
//
// Errors, for all calls: std::out_of_range for bytes that are not within the region or a rank that does not
// exist, std::invalid_argument for an empty endpoint and for a put to a region that was offered for reading;
// comm::error refused where the target has withdrawn the region, peer_failed where it has ended, peer_left
// where its context has. All calls are legal from any task on any worker and from foreign threads, which
// block as threads. Sources: section 2.2 of PPL (one-sided operations, global references), section 5.2.6 of
// Dang's dissertation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <type_traits>

#include <fult/comm/endpoint.hpp>

namespace fult::comm {

namespace detail {
struct offered_region;
}

// What a rank tells others of a region, for them to use in put and get: a plain value that is sent as any
// other.
struct remote_region {
    std::int32_t rank = -1;     // whose memory it is
    std::uint32_t writable = 0; // whether put is allowed
    std::uint64_t id = 0;
    std::uint64_t size = 0; // in bytes
};

// Memory of this rank that others may access while the object lives. The memory stays the caller's and must
// outlive it. Its own rank may use the memory as any other; bytes that others write meanwhile are unspecified
// until it has learned that they are complete.
class FULT_API region {
  public:
    region() noexcept; // of nothing
    // `size` bytes, on the device of that endpoint. Throws std::bad_alloc. Never suspends.
    region(endpoint &on, void *base, std::size_t size);
    region(endpoint &on, const void *base, std::size_t size); // others may only get
    template <plain_range R>
    region(endpoint &on, R &range)
        : region(on, std::ranges::data(range),
                 std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>)) {}
    region(region &&other) noexcept;
    region &operator=(region &&other) noexcept;
    // Nobody accesses the memory afterwards: operations that others begin later, or whose bytes were still to
    // come in parts, end with errc::refused; this waits for what is being moved just now. May suspend. Before
    // the context ends.
    ~region();

    remote_region remote() const noexcept; // of rank -1 where the region is empty

  private:
    std::unique_ptr<detail::offered_region> what_;
};

// Writes to offset `offset`, in bytes, of another rank's region, or of an own one. The blocking forms suspend
// until it is complete; the others never suspend, and the memory stays in use until the request is complete.
FULT_API void put(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                  std::size_t offset);
FULT_API request iput(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                      std::size_t offset);

// The same, and then a message without bytes, of that tag, arrives at the target's endpoint `through`, as
// endpoint::send would have sent it: a task is waiting for it in recv, or it comes out of the endpoint's
// queue, or its handler is called, and the bytes are there. Not in order with messages of send.
FULT_API void put_signal(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                         std::size_t offset, std::uint32_t tag);
FULT_API request iput_signal(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                             std::size_t offset, std::uint32_t tag);

// Reads `size` bytes from offset `offset`.
FULT_API void get(endpoint &through, void *data, std::size_t size, const remote_region &from,
                  std::size_t offset);
FULT_API request iget(endpoint &through, void *data, std::size_t size, const remote_region &from,
                      std::size_t offset);

// The same of ranges; offsets are bytes.
template <plain_range R>
void put(endpoint &through, const R &range, const remote_region &to, std::size_t offset = 0) {
    put(through, std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
        to, offset);
}
template <plain_range R>
request iput(endpoint &through, const R &range, const remote_region &to, std::size_t offset = 0) {
    return iput(through, std::ranges::data(range),
                std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to, offset);
}
template <plain_range R>
void put_signal(endpoint &through, const R &range, const remote_region &to, std::size_t offset,
                std::uint32_t tag) {
    put_signal(through, std::ranges::data(range),
               std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to, offset, tag);
}
template <plain_range R>
request iput_signal(endpoint &through, const R &range, const remote_region &to, std::size_t offset,
                    std::uint32_t tag) {
    return iput_signal(through, std::ranges::data(range),
                       std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), to, offset, tag);
}
template <plain_range R>
void get(endpoint &through, R &&range, const remote_region &from, std::size_t offset = 0) {
    get(through, std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
        from, offset);
}
template <plain_range R>
request iget(endpoint &through, R &&range, const remote_region &from, std::size_t offset = 0) {
    return iget(through, std::ranges::data(range),
                std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), from, offset);
}

} // namespace fult::comm
