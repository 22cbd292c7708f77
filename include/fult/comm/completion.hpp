// What is told of the end of an operation to somebody else than who waits for its request: a synchronizer
// counts such ends, a queue lists them, and a class of the program's own may do anything else that does not
// wait. Messages, and signals of puts, end nothing here: an endpoint's delivery says where they go, and its
// handler may call synchronizer::arrive or completion_queue::complete. Source: section 5.2.6 of Dang's
// dissertation (completion queue, synchronizer, generic handler).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <type_traits>
#include <vector>

#include <fult/comm/endpoint.hpp>
#include <fult/comm/one_sided.hpp>
#include <fult/sync/waiter.hpp>

namespace fult::comm {

namespace detail {
class device;
}

// An operation that has ended.
struct completed {
    status about;              // of the message or the access; source is the other rank
    errc failure = errc::none; // none: it went well
    std::uint64_t note = 0;    // as it was given with the operation
};

// Whoever is told. It outlives the operations that it is given with.
class FULT_API completion {
  public:
    // Called once for each, on any thread and perhaps inside the communication server: it must neither
    // suspend nor block. It may begin other operations.
    virtual void complete(const completed &what) noexcept = 0;

    // For each operation, before it begins: memory for its end, which may come when there is none. Throws
    // std::bad_alloc, and then the operation does not begin. Nothing, unless a class has use for it.
    virtual void expect_one();
    // The end of an operation that was expected; complete, unless a class wants to tell them apart.
    virtual void complete_expected(const completed &what) noexcept;
    // An operation that was expected does not begin.
    virtual void cancel_expected() noexcept;

  protected:
    ~completion() = default;
};

// Waits for a number of operations, or whatever else, with one wake-up.
class FULT_API synchronizer final : public completion {
  public:
    // Of so many, with operations of that endpoint's context. Throws std::invalid_argument for an empty
    // endpoint.
    synchronizer(const endpoint &on, std::size_t count);
    synchronizer(const synchronizer &) = delete;
    synchronizer &operator=(const synchronizer &) = delete;
    ~synchronizer() = default; // when nothing will be told to it any more

    void complete(const completed &what) noexcept override;
    // One has come: for handlers, and for tasks. From any thread, never suspends. More than its count ends
    // the program.
    void arrive() noexcept { complete({}); }

    // Whether all have come. Makes progress, never suspends.
    bool test() noexcept;
    // Waits until all have come; a task suspends, a foreign thread blocks. Any number may wait. Throws the
    // error of the first operation that failed; the others have ended all the same.
    void wait();
    // To be used again, once all have come and nobody waits.
    void expect(std::size_t count) noexcept;

  private:
    detail::device &on_;
    fult::detail::short_lock lock_;
    std::size_t left_;
    completed failed_; // the first one that did
    fult::detail::wait_list waiters_;
};

// Ends of operations, in the order in which they came. Any thread may take them out.
class FULT_API completion_queue final : public completion {
  public:
    // For operations of that endpoint's context. Throws std::invalid_argument for an empty endpoint.
    explicit completion_queue(const endpoint &on);
    completion_queue(const completion_queue &) = delete;
    completion_queue &operator=(const completion_queue &) = delete;
    ~completion_queue() = default; // when nothing will be told to it any more

    // An entry of the program's own. If there is no memory for it, the program ends with a message; an
    // operation that finds none does not begin.
    void complete(const completed &what) noexcept override;
    void expect_one() override;
    void complete_expected(const completed &what) noexcept override;
    void cancel_expected() noexcept override;

    // The oldest one; nothing where there is none. Makes progress, never suspends.
    std::optional<completed> try_pop() noexcept;
    // The oldest one; waits for it. A task suspends, a foreign thread blocks. Those who wait are served in
    // their order. Failures are in the entry, nothing is thrown.
    completed pop() noexcept;

  private:
    void make_room();
    fult::detail::waiter *add(const completed &what) noexcept;
    completed take_first() noexcept;
    std::optional<completed> take() noexcept;
    detail::device &on_;
    fult::detail::short_lock lock_;
    std::vector<completed> ring_; // its size is 0 or a power of two; has room for all that are expected
    std::size_t first_ = 0;       // the oldest one
    std::size_t count_ = 0;       // entries
    std::size_t expected_ = 0;    // operations under way
    fult::detail::wait_list waiters_;
};

// As the calls without `when`, which is told instead of a request; `note` says to it which one it is. The
// memory stays in use until then. A receive that was begun so cannot be taken back. They never suspend; wrong
// arguments and a lack of memory throw, and then nothing is told.
FULT_API void isend(endpoint &through, const void *data, std::size_t size, int destination, std::uint32_t tag,
                    completion &when, std::uint64_t note = 0);
FULT_API void irecv(endpoint &at, void *data, std::size_t size, int source, std::int64_t tag,
                    completion &when, std::uint64_t note = 0);
FULT_API void iput(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                   std::size_t offset, completion &when, std::uint64_t note = 0);
FULT_API void iput_signal(endpoint &through, const void *data, std::size_t size, const remote_region &to,
                          std::size_t offset, std::uint32_t tag, completion &when, std::uint64_t note = 0);
FULT_API void iget(endpoint &through, void *data, std::size_t size, const remote_region &from,
                   std::size_t offset, completion &when, std::uint64_t note = 0);

} // namespace fult::comm
