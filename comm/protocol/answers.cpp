#include "comm/protocol/answers.hpp"

#include <cstring>
#include <new>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

bool answer_queue::answer_bytes(int rank, record kind, std::span<const std::byte> body) noexcept {
    peer &to = core_.peers.of(rank);
    if (to.is_doomed() || (to.held_answers == 0 && sending_.append(to, kind, 0, 0, 0, body)))
        return true;
    if (!promise())
        return false;
    hold_promised(rank, kind, body);
    return true;
}

bool answer_queue::promise() noexcept {
    const std::size_t needed = held_.size() + promised_ + 1;
    if (needed > held_.capacity())
        try {
            held_.reserve(2 * needed);
        } catch (const std::bad_alloc &) {
            return false;
        }
    ++promised_;
    return true;
}

void answer_queue::hold_promised(int rank, record kind, std::span<const std::byte> body) noexcept {
    FULT_ASSERT(promised_ != 0 && held_.size() < held_.capacity(), "a promise reserves a place");
    --promised_;
    peer &to = core_.peers.of(rank);
    if (to.is_doomed())
        return;
    if (to.held_answers == 0 && sending_.append(to, kind, 0, 0, 0, body))
        return;
    held waiting{rank, kind, {}, body.size()};
    std::memcpy(waiting.body, body.data(), body.size());
    held_.push_back(waiting); // has capacity: promise
    ++to.held_answers;
    sleep_.press();
}

// A rank without free packets does not delay the others.
void answer_queue::retry() noexcept {
    for (const held &each : held_)
        core_.peers.of(each.rank).no_room = false;
    std::erase_if(held_, [&](const held &each) {
        peer &to = core_.peers.of(each.rank);
        if (!to.is_doomed()) {
            to.no_room = to.no_room || !sending_.append(to, each.kind, 0, 0, 0,
                                                        std::span<const std::byte>(each.body, each.size));
            if (to.no_room)
                return false;
        }
        --to.held_answers;
        return true;
    });
}

} // namespace fult::comm::detail
