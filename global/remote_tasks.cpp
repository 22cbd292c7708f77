// Tasks at other ranks: a message that starts one, and its reply.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <fult/comm/completion.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/global/spawn_at.hpp>
#include <fult/sync/event.hpp>

#include "global/function_table.hpp"
#include "global/state.hpp"

namespace fult::global {

remote_error::~remote_error() = default;

namespace detail {

namespace {

// A message that starts a task: this, then the arguments. Its tag is that of the reply.
struct start_record {
    std::uint64_t function = 0; // hash
};

enum class outcome : std::uint32_t { returned, threw, unknown, ambiguous };

// The reply: this, then the result, or the text of the exception.
struct reply_record {
    outcome ended{};
    std::uint32_t unused = 0;
};
constexpr std::size_t max_text = 512;

std::string name_of(std::uint64_t function) {
    const found_function found = find_function(function);
    FULT_ASSERT(found.what, "this rank has registered it");
    return readable_name(*found.what);
}

} // namespace

// Used by the task that joins, and by the completion. Whichever of a detach and the completion comes second
// deletes it.
struct remote_reply final : comm::completion {
    remote_reply(memory_state &at, int rank, std::uint64_t function, std::size_t result)
        : at(at),
          rank(rank),
          function(function),
          bytes(sizeof(reply_record) + std::max(result, max_text)),
          tag(at.tags.take()) {}

    void complete(const comm::completion_event &what) noexcept override {
        failure = what.failure;
        size = what.envelope.size;
        at.tags.give(tag);
        at.replies_pending.end_one(); // the memory may end now
        // Acquire and release: pairs with detach.
        if (state.exchange(complete_state, std::memory_order_acq_rel) == detached)
            end_detached();
        else
            ended.set();
    }
    void end_detached() noexcept {
        const std::unique_ptr<remote_reply> last(this);
        if (failure != comm::errc::none)
            return; // the rank has ended, and its tasks with it
        try {
            check();
        } catch (const std::exception &e) {
            fult::detail::misuse("global::remote_task", e.what());
        }
    }
    reply_record head() const noexcept {
        reply_record first;
        std::memcpy(&first, bytes.data(), sizeof first);
        return first;
    }
    // Throws what has happened to the task.
    void check() const;

    memory_state &at; // until it is complete
    const int rank;
    const std::uint64_t function;
    std::vector<std::byte> bytes;
    const std::uint32_t tag;
    comm::errc failure = comm::errc::none;
    std::size_t size = 0; // of the reply
    fult::event ended;
    enum : int { pending, detached, complete_state };
    std::atomic<int> state{pending};
};

void remote_reply::check() const {
    const std::string what = "fult-global: spawn_at: the function " + name_of(function);
    const std::string where = " of rank " + std::to_string(rank);
    if (failure != comm::errc::none)
        throw comm::error(failure, what + ": rank " + std::to_string(rank) + " has ended");
    switch (head().ended) {
    case outcome::returned:
        return;
    case outcome::threw:
        throw remote_error(
            rank, what + " ended at rank " + std::to_string(rank) + " with an exception: " +
                      std::string(reinterpret_cast<const char *>(bytes.data()) + sizeof(reply_record),
                                  size - sizeof(reply_record)));
    case outcome::unknown:
        throw remote_error(
            rank, what + " is not in the program" + where +
                      "; run the same program on all ranks, or pass the function to spawn_at there, too");
    case outcome::ambiguous:
        throw remote_error(rank, what + " is ambiguous in the program" + where +
                                     ": several unnamed namespaces have one; give it a name of its own");
    }
}

bool reply_owner::done() const noexcept { return reply_ && reply_->ended.is_set(); }

void reply_owner::detach(const char *call) noexcept {
    if (!reply_)
        fult::detail::misuse(call, "the handle owns no task: it was joined, detached or moved from");
    detach_if_owned();
}
void reply_owner::detach_if_owned() noexcept {
    remote_reply *const left = std::exchange(reply_, nullptr);
    // Acquire and release: pairs with complete.
    if (!left ||
        left->state.exchange(remote_reply::detached, std::memory_order_acq_rel) == remote_reply::pending)
        return;
    left->ended.wait(); // for the end of set, a moment
    left->end_detached();
}

void reply_owner::join(void *result, std::size_t size) {
    if (!reply_)
        fult::detail::misuse("global::remote_task::join",
                             "the handle owns no task: it was joined, detached or moved from");
    reply_->ended.wait();
    const std::unique_ptr<remote_reply> last(std::exchange(reply_, nullptr));
    last->check();
    FULT_ASSERT(last->size == sizeof(reply_record) + size, "both ranks have the same function");
    if (size != 0)
        std::memcpy(result, last->bytes.data() + sizeof(reply_record), size);
}

reply_owner start_at(memory &in, int rank, std::uint64_t function, const void *arguments, std::size_t size,
                     std::size_t result) {
    memory_state &state = in.state();
    if (rank < 0 || rank >= state.size)
        throw std::out_of_range("fult-global: spawn_at: there is no rank " + std::to_string(rank));
    if (find_function(function).ambiguous)
        throw std::logic_error(
            "fult-global: spawn_at: several functions have the name " + name_of(function) +
            ": those of unnamed namespaces in different sources; give it a name of its own");
    std::vector<std::byte> message(sizeof(start_record) + size);
    const start_record head{function};
    std::memcpy(message.data(), &head, sizeof head);
    if (size != 0)
        std::memcpy(message.data() + sizeof head, arguments, size);
    auto reply = std::make_unique<remote_reply>(state, rank, function, result);
    state.replies_pending.add_one();
    try {
        state.replies.irecv(reply->bytes.data(), reply->bytes.size(), rank, reply->tag, *reply);
    } catch (...) {
        state.tags.give(reply->tag);
        state.replies_pending.end_one();
        throw;
    }
    // From here on the reply ends by itself: with the rank, if the message does not reach it.
    const std::uint32_t tag = reply->tag;
    reply_owner owner(reply.release());
    try {
        state.tasks.send(message, rank, tag);
    } catch (const std::bad_alloc &) { // of a message to this rank itself; its reply is waited for
        fult::detail::misuse("global::spawn_at",
                             "no memory for the message to this rank itself; remedy: more "
                             "memory, or fewer tasks at a time");
    }
    return owner;
}

void spawn_detached_at(memory &in, int rank, std::uint64_t function, const void *arguments,
                       std::size_t size) {
    start_at(in, rank, function, arguments, size, 0).detach("global::spawn_detached_at");
}

// In a task of its own.
void memory_state::run_for(const comm::status &about, std::span<const std::byte> bytes) noexcept {
    running.add_one();
    start_record wanted;
    std::vector<std::byte> reply(sizeof(reply_record) + max_text);
    reply_record head{};
    std::size_t size = 0;
    if (bytes.size() >= sizeof wanted)
        std::memcpy(&wanted, bytes.data(), sizeof wanted);
    const found_function found = find_function(wanted.function);
    if (!found.what || bytes.size() != sizeof wanted + found.what->arguments) {
        head.ended = outcome::unknown;
    } else if (found.ambiguous) {
        head.ended = outcome::ambiguous;
    } else {
        size = found.what->result;
        reply.resize(sizeof head + std::max(size, max_text));
        try {
            found.what->run(owner, bytes.data() + sizeof wanted, reply.data() + sizeof head);
        } catch (const std::exception &e) {
            head.ended = outcome::threw;
            size = std::min(std::strlen(e.what()), max_text);
            std::memcpy(reply.data() + sizeof head, e.what(), size);
        } catch (...) {
            head.ended = outcome::threw;
            size = 0;
        }
    }
    std::memcpy(reply.data(), &head, sizeof head);
    try {
        replies.send(reply.data(), sizeof head + size, about.source, about.tag);
    } catch (const comm::error &) { // the rank has ended, and waits for nothing
    }
    running.end_one();
}

} // namespace detail
} // namespace fult::global
