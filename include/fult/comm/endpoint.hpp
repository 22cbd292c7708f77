// Sending and receiving, as an MPI programmer knows it: a call that waits suspends its task and nobody else.
// Source: chapter 5 of Dang's dissertation.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

#include <fult/comm/request.hpp>
#include <fult/comm/status.hpp>

namespace fult::comm {

namespace detail {
class endpoint_state;
class job;
struct endpoint_access;
} // namespace detail

// A piece of a message that is gathered from several places.
struct piece {
    const void *data; // where it is
    std::size_t size; // in bytes
};
// Room for a part of a message that is received.
struct room {
    void *data;       // where it comes
    std::size_t size; // in bytes
};

// What may be sent and received as the bytes that it consists of. Pieces and rooms say where those are
// instead.
template <class T>
concept plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::same_as<T, piece> &&
                !std::same_as<T, room>;

// Any contiguous range of such: a std::vector<double>, a std::span, an array.
template <class R>
concept plain_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    plain<std::remove_cv_t<std::ranges::range_value_t<R>>>;

// A message that was handed over whole: to a handler, or out of a completion queue.
struct message {
    comm::status about;                 // whose it is
    std::unique_ptr<std::byte[]> bytes; // about.size of them
    // The bytes, which stay the message's.
    std::span<const std::byte> view() const noexcept { return {bytes.get(), about.size}; }
};

// What happens to a message that arrives; bound when the endpoint is made, so that nothing is decided on its
// way.
enum class delivery {
    matched,  // to a recv of its source and tag (the default)
    queued,   // into the endpoint's completion queue, for dequeue; what lies there is bounded
              // (options::unexpected)
    handled,  // to the handler, in the communication server: it must not suspend
    as_a_task // to the handler, in a task of its own: it may
};

// How an endpoint is made.
struct endpoint_options {
    // The device that carries its messages: 0 ... options::devices - 1, the same on all ranks. Endpoints on
    // different devices share no lock, no packets and no server, so tasks on many workers that send much get
    // on better with one each.
    unsigned device = 0;
    // Receives may name any_source and any_tag. One that does without pays nothing for them.
    bool wildcards = false;
    delivery how = delivery::matched; // what happens to its messages
    // For handled and as_a_task. The bytes are valid during the call only. If it throws, the program ends
    // with a message that names the endpoint.
    std::function<void(const status &, std::span<const std::byte>)> handler = nullptr;
};

// A communicator: messages of one endpoint never meet those of another. Every rank makes the same endpoints
// in the same order (context::make_endpoint), and lets them end before the context. Messages of one source
// and tag arrive in the order in which they were sent, others in any order. All calls are legal from any task
// on any worker and from foreign threads, which block as threads; destination and source are ranks, sizes are
// bytes.
//
// Errors, for all that take ranks, tags or memory: std::out_of_range for a rank or tag that does not exist,
// std::invalid_argument for a call that the endpoint was not made for, comm::error peer_failed where the
// other rank has ended, peer_left where its context has ended in good order and no message of it is here; for
// any_source, where all other ranks have. Sends that need no receive to end do not fail by peer_left.
class FULT_API endpoint {
  public:
    endpoint() noexcept = default;       // of nothing
    endpoint(endpoint &&other) noexcept; // the other one is of nothing then
    // As if this one had been destroyed before.
    endpoint &operator=(endpoint &&other) noexcept;
    ~endpoint(); // receives that are pending end the program with a message

    int rank() const noexcept; // -1 where the endpoint is empty
    int size() const noexcept; // of the job, in ranks; 0 where it is empty

    // Returns when the memory is the caller's again, which may be before the message arrives. May suspend.
    void send(const void *data, std::size_t size, int destination, std::uint32_t tag);
    // Of pieces, one after the other.
    void send(std::span<const piece> pieces, int destination, std::uint32_t tag);
    // Of the elements of a range.
    template <plain_range R> void send(const R &range, int destination, std::uint32_t tag) {
        send(std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
             destination, tag);
    }
    // Of one value.
    template <plain T>
    requires(!std::ranges::range<T>) void send(const T &value, int destination, std::uint32_t tag) {
        send(&value, sizeof value, destination, tag);
    }

    // Receives one message into memory of the caller; suspends until it is there. A message that is longer
    // than the memory ends the call with errc::truncated.
    status recv(void *data, std::size_t size, int source, std::int64_t tag);
    // Into rooms, one after the other.
    status recv(std::span<const room> rooms, int source, std::int64_t tag);
    // Into the elements of a range; there may be fewer in the message, and its size tells how many.
    template <plain_range R> status recv(R &&range, int source, std::int64_t tag) {
        return recv(std::ranges::data(range),
                    std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), source, tag);
    }
    // Into one value.
    template <plain T>
    requires(!std::ranges::range<T> && !std::is_const_v<T>) status
        recv(T &value, int source, std::int64_t tag) {
        return recv(&value, sizeof value, source, tag);
    }
    // One value. A message of another size: errc::truncated, or std::length_error for a shorter one.
    template <plain T> T recv(int source, std::int64_t tag) {
        T value;
        const status got = recv(&value, sizeof value, source, tag);
        if (got.size != sizeof value)
            wrong_size(got, sizeof value);
        return value;
    }

    // Both at once, neither waiting for the other. May suspend.
    status sendrecv(const void *out, std::size_t out_size, int destination, std::uint32_t out_tag, void *in,
                    std::size_t in_size, int source, std::int64_t in_tag);

    // Begins a send; never suspends. The memory stays in use until the request is complete.
    request isend(const void *data, std::size_t size, int destination, std::uint32_t tag);
    // Begins a receive; never suspends.
    request irecv(void *data, std::size_t size, int source, std::int64_t tag);
    // Begins a send of the elements of a range.
    template <plain_range R> request isend(const R &range, int destination, std::uint32_t tag) {
        return isend(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), destination, tag);
    }
    // Begins a receive into the elements of a range.
    template <plain_range R> request irecv(R &&range, int source, std::int64_t tag) {
        return irecv(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), source, tag);
    }

    // What a receive would get; suspends until there is something.
    status probe(int source, std::int64_t tag);
    // The same if there is something; never suspends.
    std::optional<status> try_probe(int source, std::int64_t tag);

    // The Queue interface (section 3.3 of the dissertation). Copies the bytes and never suspends; false: no
    // room at present, let others run and try again.
    bool enqueue(const void *data, std::size_t size, int destination, std::uint32_t tag);
    // The oldest message of a queued endpoint; never suspends.
    std::optional<message> dequeue();

  private:
    friend class detail::job;
    friend struct detail::endpoint_access;
    explicit endpoint(std::shared_ptr<detail::endpoint_state> state) noexcept;
    [[noreturn]] static void wrong_size(const status &got, std::size_t wanted);
    std::shared_ptr<detail::endpoint_state> state_;
};

} // namespace fult::comm
