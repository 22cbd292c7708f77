#include "comm/collectives/call.hpp"

#include <iterator>
#include <stdexcept>
#include <string>

#include <fult/detail/assertion.hpp>

#include "comm/device/describe.hpp"
#include "comm/device/endpoint_names.hpp"
#include "comm/device/endpoint_state.hpp"

namespace fult::comm::detail {
namespace {

const char *name_of(collective what) noexcept {
    constexpr const char *names[] = {"",           "barrier",        "broadcast", "reduce",
                                     "allreduce",  "gather",         "allgather", "alltoall",
                                     "alltoallv",  "gatherv",        "scatter",   "scatterv",
                                     "allgatherv", "reduce_scatter", "scan",      "exscan"};
    static_assert(std::size(names) == static_cast<std::size_t>(collective::exscan) + 1);
    return names[static_cast<std::size_t>(what)];
}

std::string prefix(collective what) { return "fult-comm: " + std::string(name_of(what)) + ": "; }

} // namespace

void check_fits(const char *call, const char *which, std::size_t given, std::size_t needed) {
    if (given != needed)
        throw std::invalid_argument("fult-comm: " + std::string(call) + ": " + which + " has " +
                                    std::to_string(given) + " elements; it must have " +
                                    std::to_string(needed));
}

layout_of_blocks::layout_of_blocks(sizes counts, std::size_t element) {
    std::size_t at = 0;
    for (const std::size_t count : counts) {
        std::size_t size = 0;
        offsets.push_back(at);
        if (__builtin_mul_overflow(count, element, &size) || __builtin_add_overflow(at, size, &at))
            throw std::invalid_argument(
                "fult-comm: no memory is as large as all blocks together; that of rank " +
                std::to_string(sizes_of.size()) + " has " + std::to_string(count) + " elements of " +
                std::to_string(element) + " bytes");
        sizes_of.push_back(size);
    }
}

void name_endpoint(const endpoint &which, const char *name) noexcept {
    if (const endpoint_state *const state = endpoint_access::state(which))
        set_endpoint_label(state->id, name);
}

endpoint &internal_channel(const endpoint &ep) {
    endpoint_state *const state = endpoint_access::state(ep);
    FULT_ASSERT(state, "an empty endpoint has no channel");
    return state->collective_context;
}

collective_call::collective_call(endpoint &ep, collective what, std::uint32_t sequence)
    : state_(state_of(ep, name_of(what))),
      context_(state_.collective_context),
      what_(what),
      sequence_(sequence),
      rank_(state_.rank),
      size_(state_.size) {
    if (sequence > max_sequence)
        throw std::out_of_range(prefix(what) + "the number of a call is at most " +
                                std::to_string(max_sequence));
    if (sequence == 0 && state_.collective_runs.exchange(true, std::memory_order_acquire))
        throw std::logic_error(prefix(what) +
                               "another collective runs on this endpoint; make an endpoint for each "
                               "task that calls some");
    // A rank that only sends would not notice the failure. Pairs with departures::fail.
    if (endpoint_access::state(context_)->closed.load(std::memory_order_acquire)) {
        leave();
        fail(error(state_.any_failed() ? errc::peer_failed : errc::peer_left,
                   prefix(what) +
                       "an earlier collective of this endpoint was left incomplete by a rank whose "
                       "context has ended"));
    }
}

void collective_call::leave() noexcept {
    if (sequence_ != 0)
        return;
    FULT_ASSERT(state_.collective_runs.load(std::memory_order_relaxed), "this call runs");
    state_.collective_runs.store(false, std::memory_order_release); // pairs with the exchange
}

void collective_call::check_root(int root) const {
    if (root < 0 || root >= size_)
        throw std::out_of_range(prefix(what_) + "the root cannot be rank " + std::to_string(root) +
                                "; the endpoint has " + std::to_string(size_));
}

void collective_call::check_each(const char *call, sizes sizes_of, sizes offsets) const {
    check_fits(call, "the sizes of all ranks", sizes_of.size(), static_cast<std::size_t>(size_));
    check_fits(call, "the offsets of all ranks", offsets.size(), static_cast<std::size_t>(size_));
}

void collective_call::expect(std::size_t got, std::size_t wanted, int from) const {
    if (got != wanted)
        throw std::invalid_argument(prefix(what_) + "rank " + std::to_string(from) + " sent " +
                                    std::to_string(got) + " bytes where " + std::to_string(wanted) +
                                    " were expected; all ranks must give sizes that fit");
}

void collective_call::fail(const error &failure) const {
    if (failure.code() == errc::truncated)
        throw std::invalid_argument(prefix(what_) +
                                    "a rank sent more than was expected; all ranks must give sizes "
                                    "that fit (" +
                                    failure.what() + ")");
    if (failure.code() != errc::peer_left && failure.code() != errc::peer_failed)
        throw failure;
    // If a rank has failed, the device also closes the collective context, but possibly after the end of this
    // call.
    if (!endpoint_access::state(context_)->closed.load(
            std::memory_order_acquire)) // pairs with departures::fail
        state_.device.close(*endpoint_access::state(context_));
    if (failure.code() == errc::peer_left)
        throw as_of(failure, name_of(what_));
    for (int rank = 0; rank < size_; ++rank)
        if (state_.device.has_failed(state_.world_rank(rank)))
            throw error(errc::peer_failed,
                        prefix(what_) + state_.name_of(rank) +
                            " has ended or cannot be reached; collectives of this endpoint have "
                            "ended with it");
    throw failure;
}

void collective_call::send(const void *data, std::size_t size, int to, std::uint32_t round) {
    FULT_ASSERT(to >= 0 && to < size_ && to != rank_, "a rank sends nothing to itself");
    try {
        context_.send(data, size, to, tag(round));
    } catch (const error &failure) {
        fail(failure);
    }
}

void collective_call::recv(void *data, std::size_t size, int from, std::uint32_t round) {
    FULT_ASSERT(from >= 0 && from < size_ && from != rank_);
    status got;
    try {
        got = context_.recv(data, size, from, tag(round));
    } catch (const error &failure) {
        fail(failure);
    }
    expect(got.size, size, from);
}

void collective_call::exchange(const void *out, std::size_t out_size, int to, void *in, std::size_t in_size,
                               int from, std::uint32_t round) {
    FULT_ASSERT(to >= 0 && to < size_ && from >= 0 && from < size_);
    status got;
    try {
        got = context_.sendrecv(out, out_size, to, tag(round), in, in_size, from, tag(round));
    } catch (const error &failure) {
        fail(failure);
    }
    expect(got.size, in_size, from);
}

} // namespace fult::comm::detail
