// A reliable connection to another rank: its queue pair, and its work requests in flight.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "comm/packets/packet.hpp"
#include "comm/verbs/handshake.hpp"
#include "comm/verbs/objects.hpp"

namespace fult::comm::detail {

// In the low bits of a work request's id: what the rest is.
enum class work_kind : std::uint64_t {
    receive = 0,           // a packet's address
    request = 1,           // rank and place in the link's ring
    greeting_received = 2, // index of a buffer for a greeting
    greeting_sent = 3      // the same, sent
};
inline constexpr std::uint64_t work_kind_bits = 3;

class link {
  public:
    static constexpr std::uint32_t depth = 128; // work requests in flight

    link(int rank, verbs_ptr<ibv_qp> queue, std::uint32_t first_psn) noexcept
        : rank(rank), psn(first_psn), pair(std::move(queue)) {
        mark.kind = request_kind::receive;
        mark.rank = rank;
    }

    const int rank;
    const std::uint32_t psn; // of the first packet that this side sends
    handshake state;
    verbs_ptr<ibv_qp> pair;
    verbs_ptr<ibv_ah> path; // for greetings
    bool reported = false;  // its failure
    bool advanced = false;  // parts of transfers have moved since that was asked for
    packet mark;            // reports a failure of which there is no other object

    std::uint32_t in_flight() const noexcept { return next_ - oldest_; }
    bool has_room(std::uint32_t count) const noexcept { return in_flight() + count <= depth; }

    // Notes a work request that is about to be posted. Returns its id, and sets `signaled` if it has to have
    // a completion: if an object waits for it, or to free the ring. The caller has checked has_room.
    std::uint64_t begin(work_request *request, std::uint32_t signal_every, bool &signaled) noexcept {
        FULT_ASSERT(has_room(1));
        signaled = request != nullptr || ++unsignaled_ >= signal_every;
        if (signaled)
            unsignaled_ = 0;
        ring_[next_ % depth] = request;
        return std::uint64_t{next_++} << 32 | static_cast<std::uint64_t>(rank) << 2 |
               static_cast<std::uint64_t>(work_kind::request);
    }
    // The last ones were not accepted. The completion that one of them was to have comes with the next one.
    void withdraw(std::uint32_t count) noexcept {
        FULT_ASSERT(in_flight() >= count);
        next_ -= count;
        unsignaled_ = depth;
    }
    // The work request with that place has ended, and those before it. Returns their number; 0 if it has
    // ended before.
    std::uint32_t end(std::uint32_t place, work_request *&request) noexcept {
        if (place - oldest_ >= in_flight())
            return 0;
        request = ring_[place % depth];
        const std::uint32_t count = place - oldest_ + 1;
        oldest_ = place + 1;
        return count;
    }
    // Calls f(posted &) for each object in flight, oldest first.
    template <class F> void each(F f) {
        for (std::uint32_t i = oldest_; i != next_; ++i)
            if (work_request *request = ring_[i % depth])
                f(*request);
    }
    void drop_all() noexcept { oldest_ = next_; }

  private:
    std::array<work_request *, depth> ring_{};
    std::uint32_t next_ = 0, oldest_ = 0;
    std::uint32_t unsignaled_ = 0; // since the last signaled one
};

} // namespace fult::comm::detail
