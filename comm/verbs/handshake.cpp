#include "comm/verbs/handshake.hpp"

#include <algorithm>
#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

bool handshake::want(clock::time_point now) noexcept {
    if (at_ == stage::ready || at_ == stage::failed || std::exchange(wanted_, true))
        return false;
    if (at_ == stage::fresh)
        at_ = stage::asking;
    ask_again_ = now + patience_;
    return true;
}

bool handshake::must_ask_again(clock::time_point now) noexcept {
    if (!wanted_ || at_ == stage::ready || at_ == stage::failed || now < ask_again_)
        return false;
    patience_ = std::min(patience_ * 2, longest_patience);
    ask_again_ = now + patience_;
    return true;
}

void handshake::connected() noexcept {
    FULT_ASSERT(!connected_ && (at_ == stage::fresh || at_ == stage::asking));
    connected_ = true;
    at_ = stage::half;
}

bool handshake::hears(greeting::kind what) noexcept {
    FULT_ASSERT(connected_ && at_ != stage::failed);
    if (what == greeting::kind::ask)
        return true;
    at_ = stage::ready;
    return false;
}

void handshake::receives() noexcept {
    FULT_ASSERT(connected_);
    if (at_ == stage::half)
        at_ = stage::ready;
}

bool handshake::fail() noexcept { return std::exchange(at_, stage::failed) != stage::failed; }

} // namespace fult::comm::detail
