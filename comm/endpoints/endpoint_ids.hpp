// The ids of a rank's endpoints. They come in pairs: an endpoint's own, and its collective context's.
//
// Endpoints of the whole job take pairs in order, without communication, and use each once. The others take
// pairs that are free on all their members, from the end on, and give them back.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "comm/protocol/operation.hpp"
#include "fult/base/spin_lock.hpp"

namespace fult::comm::detail {

class endpoint_ids {
  public:
    static constexpr unsigned pairs = max_endpoints / 2;
    using set = std::array<std::uint64_t, pairs / 64>;

    // Any thread.
    bool take_next(unsigned &pair) noexcept; // returns false if it is in use, or there is none
    void give_back_next() noexcept;          // the last one that was taken
    set free() noexcept;
    bool take(unsigned pair) noexcept; // returns false if it is in use
    void give(unsigned pair) noexcept;

    static bool has(const set &s, unsigned pair) noexcept { return (s[pair / 64] >> pair % 64 & 1) != 0; }

  private:
    fult::detail::spin_lock lock_;
    set taken_{};
    unsigned next_ = 0;
};

} // namespace fult::comm::detail
