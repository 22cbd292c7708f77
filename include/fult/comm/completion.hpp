/// @file
/// Completion objects are notified of the end of operations, in place of a request: a synchronizer counts
/// operations, a completion queue lists them, and a user-defined class may do anything that does not wait.
/// Messages, and the signals of puts, do not notify them: the endpoint's delivery decides where those go, and
/// its handler may call synchronizer::arrive or completion_queue::complete. Source: section 5.2.6 of Dang's
/// dissertation (completion queue, synchronizer, generic handler).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <fult/comm/endpoint.hpp>
#include <fult/comm/one_sided.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {
class device;
struct synchronizer_state;
struct completion_queue_state;
} // namespace detail
/// @endcond

/// An operation that has ended.
struct completion_event {
    status envelope;             ///< of the message or the access; source is the other rank
    errc failure = errc::none;   ///< none: success
    std::uint64_t user_data = 0; ///< as given with the operation
};

/// A completion object. It must outlive the operations that it is passed to.
class FULT_API completion {
  public:
    /// Called once for each operation, on any thread, perhaps by the thread that makes progress: must neither
    /// suspend nor block. It may start other operations.
    virtual void complete(const completion_event &event) noexcept = 0;

  protected:
    ~completion() = default;
    /// Called before each operation starts, to reserve memory for its end, when none may be available. Throws
    /// std::bad_alloc, and then the operation does not start. Does nothing by default.
    virtual void expect_one();
    /// The end of an expected operation; calls complete by default.
    virtual void complete_expected(const completion_event &event) noexcept;
    /// An expected operation does not start.
    virtual void cancel_expected() noexcept;
};

/// Waits for a number of operations or other events, with one wake-up.
class FULT_API synchronizer final : public completion {
  public:
    /// For `count` operations of that endpoint's context. Throws std::invalid_argument for an empty endpoint.
    synchronizer(const endpoint &ep, std::size_t count);
    synchronizer(const synchronizer &) = delete;
    synchronizer &operator=(const synchronizer &) = delete;
    ~synchronizer() = default; ///< not before the last notification

    void complete(const completion_event &event) noexcept override;
    /// Counts one event: for handlers and tasks. From any thread, never suspends. More events than the count
    /// end the program.
    void arrive() noexcept { complete({}); }

    /// True if all have arrived. Makes progress, and lets other tasks run as request::test does.
    bool test() noexcept;
    /// Waits until all have arrived; a task suspends, a foreign thread blocks. Any number may wait. Throws
    /// the error of the first operation that failed, after all have ended.
    void wait();
    /// Counts to `count` again, once all have arrived and no caller waits.
    void reset(std::size_t count) noexcept;

  private:
    friend struct detail::synchronizer_state;
    alignas(8) std::byte state_[80];
};

/// Ended operations, in order of arrival. Any thread may take them out.
class FULT_API completion_queue final : public completion {
  public:
    /// For operations of that endpoint's context. Throws std::invalid_argument for an empty endpoint.
    explicit completion_queue(const endpoint &ep);
    completion_queue(const completion_queue &) = delete;
    completion_queue &operator=(const completion_queue &) = delete;
    ~completion_queue(); ///< not before the last notification

    /// Adds a user-defined entry. If memory for it cannot be allocated, the program ends with a message; an
    /// operation without memory for its entry does not start.
    void complete(const completion_event &event) noexcept override;

    /// Takes the oldest entry, if any. If there is none it makes progress, and lets other tasks run as
    /// request::test does.
    [[nodiscard]] std::optional<completion_event> try_pop() noexcept;
    /// Takes the oldest entry; waits for it. A task suspends, a foreign thread blocks. Waiting callers are
    /// served in order. Failures are recorded in the entry; nothing is thrown.
    completion_event pop() noexcept;

  private:
    void expect_one() override;
    void complete_expected(const completion_event &event) noexcept override;
    void cancel_expected() noexcept override;
    friend struct detail::completion_queue_state;
    alignas(8) std::byte state_[80];
};

/// Like the calls without `object`, which is notified in place of a request; `user_data` identifies the
/// operation. The memory is in use until then. Never suspend; on invalid arguments or lack of memory they
/// throw, and `object` is not notified. See endpoint::isend and irecv.
FULT_API void iput(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                   std::size_t offset, completion &object, std::uint64_t user_data = 0);
/// The same for a put with a signal.
FULT_API void iput_signal(endpoint &ep, const void *data, std::size_t size, const remote_region &to,
                          std::size_t offset, tag_type tag, completion &object, std::uint64_t user_data = 0);
/// The same for a get.
FULT_API void iget(endpoint &ep, void *data, std::size_t size, const remote_region &from, std::size_t offset,
                   completion &object, std::uint64_t user_data = 0);

} // namespace fult::comm
