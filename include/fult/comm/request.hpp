/// @file
/// Requests: handles of operations that have been started.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fult/comm/status.hpp>

namespace fult::comm {

class endpoint;
class request;

/// @cond internal
namespace detail {
struct request_state;
struct request_pointer;
FULT_API std::size_t wait_any_of(std::span<request *const> all);
// Waits until all are complete, with one wake-up, and takes no result: test or wait of each do that.
// Null pointers count as empty requests. May suspend.
FULT_API void await_all_of(std::span<request *const> all) noexcept;
FULT_API void drop(request_state *p) noexcept;
} // namespace detail
/// @endcond

/// A send or receive started by isend or irecv. Its buffer is in use until it is complete. Movable; for one
/// task at a time. Destroying an incomplete request ends the program with a message, since the buffer would
/// be written later.
class FULT_API request {
  public:
    request() noexcept = default; ///< empty, which counts as complete
    /// The other is empty afterwards.
    request(request &&other) noexcept
        : target_(std::exchange(other.target_, nullptr)), envelope_(other.envelope_) {}
    /// Destroys the previous request first.
    request &operator=(request &&other) noexcept {
        if (this != &other) {
            if (target_)
                detail::drop(target_);
            target_ = std::exchange(other.target_, nullptr);
            envelope_ = other.envelope_;
        }
        return *this;
    }
    ~request() {
        if (target_)
            detail::drop(target_);
    }

    /// False if the request is empty.
    [[nodiscard]] bool valid() const noexcept { return target_ != nullptr; }

    /// The result if the request is complete, which is empty afterwards; nothing if it is not: then it makes
    /// progress, and each 256th such call of a worker's tasks lets others run, as this_task::yield. For a
    /// send the status is the message's own. Throws as wait does.
    [[nodiscard]] std::optional<status> test();

    /// Waits until the request is complete; a task suspends, a foreign thread blocks. The request is empty
    /// afterwards. Throws error: truncated, peer_failed, peer_left or cancelled.
    status wait();

    /// test and wait that set `failure` and never throw: none, truncated, peer_failed, peer_left, cancelled
    /// or retry; none also if the request is not complete. The status is the message's, also if it was
    /// truncated: then with the size of the whole message. An empty request is complete, with a status of
    /// source -1.
    [[nodiscard]] std::optional<status> test(errc &failure) noexcept;
    /// See test. Suspends as the other wait does.
    status wait(errc &failure) noexcept;
    /// True if wait would return at once. Makes no progress, never suspends.
    [[nodiscard]] bool is_complete() const noexcept;

    /// Cancels a receive that has not been matched; true if it did. The request is then complete, as
    /// cancelled. Never suspends.
    bool cancel() noexcept;

  private:
    friend class endpoint;
    friend struct detail::request_pointer;
    friend FULT_API std::size_t wait_any(std::span<request> all);
    friend FULT_API std::size_t detail::wait_any_of(std::span<request *const> all);
    friend FULT_API void detail::await_all_of(std::span<request *const> all) noexcept;
    friend FULT_API void wait_all(std::span<request> all);
    detail::request_state *take() noexcept;
    explicit request(detail::request_state *target) noexcept : target_(target) {}
    explicit request(status sent) noexcept; ///< a message that has already been sent
    detail::request_state *target_ = nullptr;
    status envelope_; ///< the result of such a message
};

/// Does for each request what its wait() does, with one wake-up: the results are taken, and the requests are
/// empty afterwards. Throws the first error in span order, after all are complete. May suspend.
FULT_API void wait_all(std::span<request> all);

/// Waits until one request is complete and returns its index; test or wait then take the result at once. If
/// all are empty, returns all.size(). May suspend.
FULT_API std::size_t wait_any(std::span<request> all);

/// @cond internal
namespace detail {
FULT_API void wait_all_of(std::span<request *const> all);
// A request that no message completes, for libraries that are built on this one: tasks wait for it among
// others. It ends by end_request, once, from any task or thread; afterwards it may be destroyed at once.
FULT_API request open_request(const endpoint &ep);
FULT_API void end_request(const request &open) noexcept;
// Memory for requests, also those of such libraries: blocks of one size, aligned to a cache line. Neither
// suspends. A block may be given back by another thread than took it.
inline constexpr std::size_t request_bytes = 384;
FULT_API void *take_request_memory(); // throws std::bad_alloc
FULT_API void give_request_memory(void *block) noexcept;
template <class List>
concept request_pointers = std::convertible_to<List, std::span<request *const>>;
} // namespace detail
/// @endcond

/// The same for requests that lie anywhere: a range of pointers. Null pointers count as empty requests.
template <detail::request_pointers List> void wait_all(List &&all) { detail::wait_all_of(all); }
/// See wait_all.
template <detail::request_pointers List> std::size_t wait_any(List &&all) { return detail::wait_any_of(all); }

} // namespace fult::comm
