// Messages under way that nobody waits for yet.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fult/comm/status.hpp>

namespace fult::comm {

namespace detail {
struct pending;
struct request_access;
struct request_pointer;
FULT_API void drop(pending *p) noexcept;
} // namespace detail

// A send or receive that was begun by isend or irecv. Its buffer stays in use until it is complete. Movable;
// of one task at a time. One that is destroyed before it is complete ends the program with a message: the
// buffer would be written later.
class FULT_API request {
  public:
    request() noexcept = default; // complete already, of nothing
    // The other one is of nothing then.
    request(request &&other) noexcept : what_(std::exchange(other.what_, nullptr)), sent_(other.sent_) {}
    // As if this one had been destroyed before.
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

    // Whether there is something to wait for, or to look at.
    bool valid() const noexcept { return what_ != nullptr; }

    // What became of it if it is complete, after which the request is empty; nothing where it is not. Makes
    // progress, never suspends. For a send the status is the message's own. Throws as wait does.
    std::optional<status> test();

    // Waits until it is complete; a task suspends, a foreign thread blocks. The request is empty afterwards.
    // Throws error: truncated, peer_failed, peer_left or cancelled.
    status wait();

    // Takes a receive back that no message has met yet; whether that was so. It is complete then, as
    // cancelled. Never suspends.
    bool cancel() noexcept;

  private:
    friend class endpoint;
    friend struct detail::request_access;
    friend struct detail::request_pointer;
    friend FULT_API std::size_t wait_any(std::span<request> all);
    friend FULT_API void wait_all(std::span<request> all);
    explicit request(detail::pending *what) noexcept : what_(what) {}
    explicit request(status sent) noexcept; // a message that has left already
    detail::pending *what_ = nullptr;
    status sent_; // where it is that one
};

// Waits for all; one wake-up. Empty ones count as complete. Throws the first error, in the order of the span,
// after all are complete. May suspend.
FULT_API void wait_all(std::span<request> all);

// Waits until one is complete, and returns its index; it is still to be looked at by test or wait, which
// return at once. All of them empty: returns all.size(). May suspend.
FULT_API std::size_t wait_any(std::span<request> all);

} // namespace fult::comm
