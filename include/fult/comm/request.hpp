/// @file
/// Requests: handles of operations that have been started.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fult/comm/status.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {
struct pending;
struct request_access;
struct request_pointer;
FULT_API void drop(pending *p) noexcept;
} // namespace detail
/// @endcond

/// A send or receive started by isend or irecv. Its buffer is in use until it is complete. Movable; for one
/// task at a time. Destroying an incomplete request ends the program with a message, since the buffer would
/// be written later.
class FULT_API request {
  public:
    request() noexcept = default; ///< empty, which counts as complete
    /// The other is empty afterwards.
    request(request &&other) noexcept : what_(std::exchange(other.what_, nullptr)), sent_(other.sent_) {}
    /// Destroys the previous request first.
    request &operator=(request &&other) noexcept {
        if (this != &other) {
            if (what_)
                detail::drop(what_);
            what_ = std::exchange(other.what_, nullptr);
            sent_ = other.sent_;
        }
        return *this;
    }
    ~request() {
        if (what_)
            detail::drop(what_);
    }

    /// False if the request is empty.
    bool valid() const noexcept { return what_ != nullptr; }

    /// The result if the request is complete, which is empty afterwards; nothing if it is not. Makes
    /// progress, never suspends. For a send the status is the message's own. Throws as wait does.
    std::optional<status> test();

    /// Waits until the request is complete; a task suspends, a foreign thread blocks. The request is empty
    /// afterwards. Throws error: truncated, peer_failed, peer_left or cancelled.
    status wait();

    /// Cancels a receive that has not been matched; true if it did. The request is then complete, as
    /// cancelled. Never suspends.
    bool cancel() noexcept;

  private:
    friend class endpoint;
    friend struct detail::request_access;
    friend struct detail::request_pointer;
    friend FULT_API std::size_t wait_any(std::span<request> all);
    friend FULT_API void wait_all(std::span<request> all);
    explicit request(detail::pending *what) noexcept : what_(what) {}
    explicit request(status sent) noexcept; ///< a message that has already been sent
    detail::pending *what_ = nullptr;
    status sent_; ///< the result of such a message
};

/// Waits for all requests, with one wake-up. Empty ones count as complete. Throws the first error in span
/// order, after all are complete. May suspend.
FULT_API void wait_all(std::span<request> all);

/// Waits until one request is complete and returns its index; test or wait then take the result at once. If
/// all are empty, returns all.size(). May suspend.
FULT_API std::size_t wait_any(std::span<request> all);

} // namespace fult::comm
