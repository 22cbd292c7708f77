// The endpoints of a device, by id.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "comm/protocol/operation.hpp"

namespace fult::comm::detail {

class endpoint_table {
  public:
    endpoint_table(); // throws std::bad_alloc

    // Any thread. nullptr: it is not attached.
    endpoint_state *find(unsigned id, std::memory_order order = std::memory_order_acquire) const noexcept {
        FULT_ASSERT(id < max_endpoints);
        return all_[id].load(order); // pairs with attach
    }
    template <class F> void each(F f) const noexcept {
        for (unsigned i = 0; i < max_endpoints; ++i)
            if (endpoint_state *e = find(i))
                f(*e);
    }

    // Under the device's lock.
    std::uint64_t next_attachment() noexcept { return ++attachments_; }
    void attach(unsigned id, endpoint_state &e) noexcept {
        FULT_ASSERT(id < max_endpoints && !find(id), "an id has one endpoint");
        all_[id].store(&e, std::memory_order_release); // pairs with find
        gone_[id] = false;
        ++attached_;
    }
    void detach(unsigned id) noexcept {
        all_[id].store(nullptr, std::memory_order_seq_cst); // pairs with handler_calls::run
        FULT_ASSERT(attached_ != 0);
        gone_[id] = true;
        --attached_;
    }
    bool has_gone(unsigned id) const noexcept { return gone_[id]; }
    std::size_t attached() const noexcept { return attached_; }
    // While this rank agrees on an id with others, their messages may come before the endpoint is attached,
    // also under an id that was used before.
    void expect() noexcept { ++expected_; }
    // Returns true if no more are expected.
    bool end_expected() noexcept {
        FULT_ASSERT(expected_ != 0);
        return --expected_ == 0;
    }
    bool expects() const noexcept { return expected_ != 0; }

  private:
    std::unique_ptr<std::atomic<endpoint_state *>[]> all_;
    std::vector<bool> gone_; // detached, and not attached again
    std::size_t attached_ = 0;
    std::uint64_t attachments_ = 0;
    unsigned expected_ = 0;
};

} // namespace fult::comm::detail
