/// @file
/// Sending and receiving with MPI semantics, except that a call that waits suspends only its task. Source:
/// chapter 5 of Dang's dissertation.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>

#include <fult/comm/layout.hpp>
#include <fult/comm/request.hpp>
#include <fult/comm/status.hpp>
#include <fult/detail/mistake.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {
class endpoint_state;
class job;
struct unexpected_message;
struct endpoint_access;
} // namespace detail
/// @endcond

class completion;

/// A buffer of a message that is gathered.
struct const_buffer {
    const void *data; ///< its first byte
    std::size_t size; ///< in bytes
};
/// A buffer for a message that is scattered.
struct mutable_buffer {
    void *data;       ///< its first byte
    std::size_t size; ///< in bytes
};

/// A type that can be sent and received as its bytes. Pieces and buffers are excluded: they describe buffers.
template <class T>
concept plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::same_as<T, const_buffer> &&
                !std::same_as<T, mutable_buffer>;

/// A contiguous range of plain elements: a std::vector<double>, a std::span, an array.
template <class R>
concept plain_range = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    plain<std::remove_cv_t<std::ranges::range_value_t<R>>>;

/// @cond internal
namespace detail {
// What is neither, nor a list of buffers.
template <class T>
concept not_plain = !plain<std::remove_cvref_t<T>> && !plain_range<T> &&
                    !std::convertible_to<T, std::span<const const_buffer>> &&
                    !std::convertible_to<T, std::span<const mutable_buffer>>;

template <class T> void refuse_message() {
    static_assert(fult::detail::mistake<T>,
                  "fult::comm: a message is a copy of bytes: its type must be trivially copyable and no "
                  "pointer, or a contiguous range of such elements; write other types into one, or send "
                  "their parts");
}
} // namespace detail
/// @endcond

/// A complete message: passed to a handler, or taken from a completion queue.
struct message {
    comm::status envelope;              ///< its envelope
    std::unique_ptr<std::byte[]> bytes; ///< envelope.size bytes
    /// The bytes, which the message owns.
    std::span<const std::byte> view() const noexcept { return {bytes.get(), envelope.size}; }
};

/// What happens to an arriving message. Fixed when the endpoint is created, so that nothing is decided per
/// message.
enum class delivery {
    matched, ///< goes to a recv with its source and tag (the default)
    queued,  ///< goes into the endpoint's completion queue, for dequeue; the queue is bounded
             ///< (options::unexpected)
    handler, ///< goes to the handler, called while making progress: it must not suspend
    task     ///< goes to the handler, run in a new task: it may suspend
};

/// Options of an endpoint.
struct endpoint_options {
    /// Of this structure: a later library takes the defaults of what a program does not have.
    std::size_t size = sizeof(endpoint_options);
    /// The device that carries its messages: 0 ... options::devices - 1, the same on all ranks. Endpoints on
    /// different devices share no lock, no packets and no progress engine, so tasks on many workers that send
    /// much scale better with one each.
    unsigned device = 0;
    /// Receives may use any_source and any_tag. An endpoint without wildcards pays nothing for them.
    bool wildcards = false;
    comm::delivery delivery = comm::delivery::matched; ///< what happens to its messages
    /// For handler and task. The bytes are valid only during the call. If it throws, the program ends
    /// with a message that names the endpoint.
    std::function<void(const status &, std::span<const std::byte>)> handler = nullptr;
    /// For handler, or null: called once for each other rank of the endpoint that ends while the endpoint
    /// exists, or before: peer_failed, or peer_left if its context has ended. It is called as the handler is,
    /// behind the handler's calls for the rank's messages; only long messages of a rank that has left may
    /// come later. It must not suspend.
    std::function<void(int rank, errc reason)> rank_ended = nullptr;
};

/// A message that a probe has taken out of matching: only this object can receive it. Movable. It must be
/// received: destroying it before ends the program with a message, since the sender may wait for that.
class FULT_API matched_message {
  public:
    matched_message() noexcept = default; ///< empty
    /// The other is empty afterwards.
    matched_message(matched_message &&other) noexcept;
    /// Destroys the previous message first.
    matched_message &operator=(matched_message &&other) noexcept;
    ~matched_message();

    /// False if it is empty.
    [[nodiscard]] bool valid() const noexcept { return what_ != nullptr; }
    /// Its envelope.
    const status &envelope() const noexcept { return envelope_; }

    /// Receive it, with the errors of endpoint::recv and irecv; the object is empty afterwards. An empty one
    /// throws std::invalid_argument. irecv never suspends.
    status recv(void *data, std::size_t size);
    /// See recv.
    [[nodiscard]] request irecv(void *data, std::size_t size);
    /// See recv.
    status recv(message_target &to, std::size_t size);
    /// See recv.
    [[nodiscard]] request irecv(message_target &to, std::size_t size);
    /// As the recv of an endpoint that has this parameter.
    status recv(void *data, std::size_t size, errc &failure) noexcept;

  private:
    friend class endpoint;
    matched_message(std::shared_ptr<detail::endpoint_state> at, detail::unexpected_message *what) noexcept;
    status receive(void *to, bool scattered, std::size_t size);
    request begin(void *to, bool scattered, std::size_t size);
    std::shared_ptr<detail::endpoint_state> at_;
    detail::unexpected_message *what_ = nullptr;
    status envelope_;
};

/// A communicator: messages of one endpoint never match those of another. Every rank creates the same
/// endpoints in the same order (context::make_endpoint) and destroys them before the context. Messages with
/// the same source and tag arrive in the order in which they were sent, others in any order. All calls are
/// legal from any task on any worker and from foreign threads, which block. Destination and source are ranks;
/// sizes are in bytes.
///
/// Errors of all calls that take ranks, tags or memory: std::out_of_range for a rank or tag that does not
/// exist; std::invalid_argument for a call that the endpoint does not allow; comm::error peer_failed if the
/// other rank has ended; peer_left if its context has ended normally and no message from it is left; for
/// any_source, if this holds for all other ranks. Sends that complete without a receive do not fail with
/// peer_left.
class FULT_API endpoint {
  public:
    endpoint() noexcept = default;       ///< empty
    endpoint(endpoint &&other) noexcept; ///< the other is empty afterwards
    /// Destroys the previous endpoint first.
    endpoint &operator=(endpoint &&other) noexcept;
    ~endpoint(); ///< pending receives end the program with a message

    /// False if it is empty.
    [[nodiscard]] bool valid() const noexcept { return state_ != nullptr; }
    int rank() const noexcept; ///< -1 if the endpoint is empty
    int size() const noexcept; ///< number of ranks; 0 if the endpoint is empty
    /// The number in the job of a rank of this endpoint; -1 if it has no such rank.
    int world_rank(int rank) const noexcept;
    /// The transport that carries messages to a rank: "shared" (memory of this host), "shm", "net", ...;
    /// "self" for this rank. Throws std::out_of_range. Never suspends.
    const char *route_to(int rank) const;

    /// Makes an endpoint of some of the ranks. Exactly those call it, each with the same list of their
    /// numbers here, in the same order, and the same tag; it is collective among them alone. The rank of a
    /// member is its position in the list. Tasks may make several at once on this endpoint if their tags
    /// differ, or their lists. A rank has at most 2,046 endpoints of any kind, world included; a number is
    /// used again when its endpoint has been destroyed. May suspend.
    ///
    /// Throws std::invalid_argument if the list names a rank twice or lacks the caller; std::out_of_range for
    /// a rank or device that does not exist; std::length_error on all members if no number is free on all of
    /// them; comm::error peer_failed or peer_left if a member has ended.
    endpoint subset(std::span<const int> members, tag_type tag = 0, endpoint_options options = {});

    /// Returns when the memory may be reused, which may be before the message arrives. May suspend.
    void send(const void *data, std::size_t size, int destination, tag_type tag);
    /// Sends several buffers in order.
    void send(std::span<const const_buffer> buffers, int destination, tag_type tag);
    /// Sends the elements of a range.
    template <plain_range R> void send(const R &range, int destination, tag_type tag) {
        send(std::ranges::data(range), std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
             destination, tag);
    }
    /// Sends one value.
    template <plain T>
    requires(!std::ranges::range<T>) void send(const T &value, int destination, tag_type tag) {
        send(&value, sizeof value, destination, tag);
    }

    /// Receives one message into the caller's memory; suspends until it has arrived. If the message is longer
    /// than the memory, the call fails with errc::truncated.
    status recv(void *data, std::size_t size, int source, tag_type tag);
    /// Receives into several buffers in order.
    status recv(std::span<const mutable_buffer> buffers, int source, tag_type tag);
    /// Receives into the elements of a range; the message may have fewer, and the status has its size.
    template <plain_range R> status recv(R &&range, int source, tag_type tag) {
        return recv(std::ranges::data(range),
                    std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), source, tag);
    }
    /// Receives into one value.
    template <plain T>
    requires(!std::ranges::range<T> && !std::is_const_v<T>) status recv(T &value, int source, tag_type tag) {
        return recv(&value, sizeof value, source, tag);
    }
    /// Receives one value. A longer message: errc::truncated; a shorter one: std::length_error.
    template <plain T> T recv(int source, tag_type tag) {
        T value;
        const status got = recv(&value, sizeof value, source, tag);
        if (got.size != sizeof value)
            wrong_size(got, sizeof value);
        return value;
    }

    /// @cond internal
    template <detail::not_plain T> void send(const T &, int, tag_type) { detail::refuse_message<T>(); }
    template <detail::not_plain T> status recv(T &&, int, tag_type) {
        detail::refuse_message<T>();
        return {};
    }
    template <detail::not_plain T> T recv(int, tag_type) {
        detail::refuse_message<T>();
        std::terminate();
    }
    template <detail::not_plain T> request isend(const T &, int, tag_type) {
        detail::refuse_message<T>();
        return {};
    }
    template <detail::not_plain T> request irecv(T &&, int, tag_type) {
        detail::refuse_message<T>();
        return {};
    }
    /// @endcond

    /// Sends and receives concurrently. May suspend.
    status sendrecv(const void *out, std::size_t out_size, int destination, tag_type out_tag, void *in,
                    std::size_t in_size, int source, tag_type in_tag);

    /// Starts a send; never suspends. The memory is in use until the request is complete.
    [[nodiscard]] request isend(const void *data, std::size_t size, int destination, tag_type tag);
    /// Starts a receive; never suspends.
    [[nodiscard]] request irecv(void *data, std::size_t size, int source, tag_type tag);
    /// Starts a send of the elements of a range.
    template <plain_range R> [[nodiscard]] request isend(const R &range, int destination, tag_type tag) {
        return isend(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), destination, tag);
    }
    /// Starts a receive into the elements of a range.
    template <plain_range R> [[nodiscard]] request irecv(R &&range, int source, tag_type tag) {
        return irecv(std::ranges::data(range),
                     std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>), source, tag);
    }

    /// Like the calls without `object`, which is notified in place of a request (fult/comm/completion.hpp);
    /// `user_data` identifies the operation. The memory is in use until then. Such a receive cannot be
    /// cancelled. Never suspend; on invalid arguments or lack of memory they throw, and `object` is not
    /// notified.
    void isend(const void *data, std::size_t size, int destination, tag_type tag, completion &object,
               std::uint64_t user_data = 0);
    /// See isend.
    void irecv(void *data, std::size_t size, int source, tag_type tag, completion &object,
               std::uint64_t user_data = 0);

    /// Starts a send of one value, which is in use until the request is complete: no temporary.
    template <plain T>
    requires(!std::ranges::range<T>) request isend(const T &value, int destination, tag_type tag) {
        return isend(&value, sizeof value, destination, tag);
    }
    template <plain T>
    requires(!std::ranges::range<T>) request isend(const T &&, int, tag_type)
    = delete;
    /// Starts a receive into one value.
    template <plain T>
    requires(!std::ranges::range<T> && !std::is_const_v<T>) request
        irecv(T &value, int source, tag_type tag) {
        return irecv(&value, sizeof value, source, tag);
    }

    /// Like send and isend, but complete only when a receive has matched the message, whatever its size.
    /// ssend may suspend, issend never does.
    void ssend(const void *data, std::size_t size, int destination, tag_type tag);
    /// See ssend.
    [[nodiscard]] request issend(const void *data, std::size_t size, int destination, tag_type tag);

    /// Messages in pieces: nothing is copied but into and out of packets. The objects, and what the spans
    /// refer to, are in use until the operation is complete. send, ssend and recv may suspend.
    void send(const message_source &from, std::size_t size, int destination, tag_type tag);
    /// See send.
    [[nodiscard]] request isend(const message_source &from, std::size_t size, int destination, tag_type tag);
    /// Complete only when a receive has matched the message, as the other ssend and issend.
    void ssend(const message_source &from, std::size_t size, int destination, tag_type tag);
    /// See ssend.
    [[nodiscard]] request issend(const message_source &from, std::size_t size, int destination, tag_type tag);
    /// Receives a message of at most `size` bytes.
    status recv(message_target &to, std::size_t size, int source, tag_type tag);
    /// See recv.
    [[nodiscard]] request irecv(message_target &to, std::size_t size, int source, tag_type tag);
    /// Sends several buffers in order.
    [[nodiscard]] request isend(std::span<const const_buffer> buffers, int destination, tag_type tag);
    /// Receives into several buffers in order.
    [[nodiscard]] request irecv(std::span<const mutable_buffer> buffers, int source, tag_type tag);

    /// send, ssend and recv that set `failure` and never throw: none, truncated, peer_failed, peer_left, or
    /// retry if there is no memory. Invalid arguments end the program. If the message was truncated, the
    /// status has the size of all of it. May suspend.
    void send(const void *data, std::size_t size, int destination, tag_type tag, errc &failure) noexcept;
    /// See send.
    void ssend(const void *data, std::size_t size, int destination, tag_type tag, errc &failure) noexcept;
    /// See send.
    status recv(void *data, std::size_t size, int source, tag_type tag, errc &failure) noexcept;

    /// The status of the message that a receive would get; suspends until there is one.
    status probe(int source, tag_type tag);
    /// Like probe, if there is such a message; never waits. If there is none it lets other tasks run as
    /// request::test does.
    [[nodiscard]] std::optional<status> try_probe(int source, tag_type tag);

    /// Like probe and try_probe, but take the message out of matching: no other receive or probe gets it.
    [[nodiscard]] matched_message mprobe(int source, tag_type tag);
    /// See mprobe and try_probe.
    [[nodiscard]] std::optional<matched_message> try_mprobe(int source, tag_type tag);

    /// The Queue interface (section 3.3 of the dissertation). Copies the bytes and never suspends; false: no
    /// space at present; let other tasks run, then try again.
    [[nodiscard]] bool enqueue(const void *data, std::size_t size, int destination, tag_type tag);
    /// Takes the oldest message of a queued endpoint, if any; never waits. If there is none it lets other
    /// tasks run as request::test does.
    [[nodiscard]] std::optional<message> dequeue();

  private:
    friend class detail::job;
    friend class matched_message;
    friend struct detail::endpoint_access;
    explicit endpoint(std::shared_ptr<detail::endpoint_state> state) noexcept;
    request begin_send(const void *data, bool scattered, std::size_t size, int destination, tag_type tag,
                       bool synchronous, const char *call);
    [[noreturn]] static void wrong_size(const status &got, std::size_t wanted);
    std::shared_ptr<detail::endpoint_state> state_;
};

} // namespace fult::comm
