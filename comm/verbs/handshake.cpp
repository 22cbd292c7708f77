#include "comm/verbs/handshake.hpp"

#include <algorithm>
#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

bool handshake::request_connection(clock::time_point now) noexcept {
    if (stage_ == stage::ready || stage_ == stage::failed || std::exchange(has_request_, true))
        return false;
    if (stage_ == stage::fresh)
        stage_ = stage::asking;
    next_greeting_ = now + patience_;
    return true;
}

bool handshake::needs_greeting(clock::time_point now) noexcept {
    if (!has_request_ || stage_ == stage::ready || stage_ == stage::failed || now < next_greeting_)
        return false;
    patience_ = std::min(patience_ * 2, max_patience);
    next_greeting_ = now + patience_;
    return true;
}

void handshake::mark_connected() noexcept {
    FULT_ASSERT(!connected_ && (stage_ == stage::fresh || stage_ == stage::asking));
    connected_ = true;
    stage_ = stage::half;
}

bool handshake::greeting_received(greeting_kind kind) noexcept {
    FULT_ASSERT(connected_ && stage_ != stage::failed);
    if (kind == greeting_kind::ask)
        return true;
    stage_ = stage::ready;
    return false;
}

void handshake::message_received() noexcept {
    FULT_ASSERT(connected_);
    if (stage_ == stage::half)
        stage_ = stage::ready;
}

bool handshake::fail() noexcept { return std::exchange(stage_, stage::failed) != stage::failed; }

} // namespace fult::comm::detail
