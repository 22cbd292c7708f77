#include "comm/protocol/answers.hpp"

#include <cstring>
#include <new>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

bool answer_queue::answer_bytes(int rank, record kind, std::span<const std::byte> body) noexcept {
    peer &peer = core_.peers.of(rank);
    if (peer.is_failing() || (peer.queued_answers == 0 && send_path_.append(peer, kind, 0, 0, 0, body)))
        return true;
    if (!reserve())
        return false;
    hold_reserved(rank, kind, body);
    return true;
}

bool answer_queue::reserve() noexcept {
    const std::size_t needed = queue_.size() + reserved_ + 1;
    if (needed > queue_.capacity())
        try {
            queue_.reserve(2 * needed);
        } catch (const std::bad_alloc &) {
            return false;
        }
    ++reserved_;
    return true;
}

void answer_queue::hold_reserved(int rank, record kind, std::span<const std::byte> body) noexcept {
    FULT_ASSERT(reserved_ != 0 && queue_.size() < queue_.capacity(), "each has reserved an entry");
    --reserved_;
    peer &peer = core_.peers.of(rank);
    if (peer.is_failing())
        return;
    if (peer.queued_answers == 0 && send_path_.append(peer, kind, 0, 0, 0, body))
        return;
    entry waiting{rank, kind, {}, body.size()};
    std::memcpy(waiting.body, body.data(), body.size());
    queue_.push_back(waiting); // has capacity: promise
    ++peer.queued_answers;
    mark_waiting();
    sleep_.interrupt();
}

// A rank without free packets does not delay the others.
void answer_queue::retry() noexcept {
    for (const entry &each : queue_)
        core_.peers.of(each.rank).lacks_room = false;
    std::erase_if(queue_, [&](const entry &each) {
        peer &peer = core_.peers.of(each.rank);
        if (!peer.is_failing()) {
            peer.lacks_room =
                peer.lacks_room || !send_path_.append(peer, each.kind, 0, 0, 0,
                                                      std::span<const std::byte>(each.body, each.size));
            if (peer.lacks_room)
                return false;
        }
        --peer.queued_answers;
        return true;
    });
    mark_waiting();
}

} // namespace fult::comm::detail
