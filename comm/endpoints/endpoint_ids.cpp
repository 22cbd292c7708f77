#include "comm/endpoints/endpoint_ids.hpp"

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {
namespace {

constexpr std::uint64_t bit(unsigned pair) noexcept { return std::uint64_t{1} << pair % 64; }

} // namespace

bool endpoint_ids::take_next(unsigned &pair) noexcept {
    const std::lock_guard guard(lock_);
    if (next_ == pairs || has(taken_, next_))
        return false;
    pair = next_++;
    taken_[pair / 64] |= bit(pair);
    return true;
}

void endpoint_ids::give_back_next() noexcept {
    const std::lock_guard guard(lock_);
    FULT_ASSERT(next_ != 0 && has(taken_, next_ - 1));
    --next_;
    taken_[next_ / 64] &= ~bit(next_);
}

endpoint_ids::set endpoint_ids::free() noexcept {
    const std::lock_guard guard(lock_);
    set all;
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = ~taken_[i];
    return all;
}

bool endpoint_ids::take(unsigned pair) noexcept {
    const std::lock_guard guard(lock_);
    FULT_ASSERT(pair < pairs);
    if (has(taken_, pair))
        return false;
    taken_[pair / 64] |= bit(pair);
    return true;
}

void endpoint_ids::give(unsigned pair) noexcept {
    const std::lock_guard guard(lock_);
    FULT_ASSERT(pair >= next_ && has(taken_, pair), "ids of endpoints of the whole job are used once");
    taken_[pair / 64] &= ~bit(pair);
}

} // namespace fult::comm::detail
