// Messages for endpoints that are not attached yet, or that had no memory for them; oldest first.
#pragma once

#include "comm/base/linked_queue.hpp"
#include "comm/protocol/operation.hpp"

namespace fult::comm::detail {

// The key of such a message is set. Owns none of them.
class early_messages {
  public:
    void append(unexpected_message &m) noexcept;
    unexpected_message *take() noexcept; // nullptr if empty
    early_messages take_of(unsigned endpoint) noexcept;

  private:
    linked_queue<match_item, &match_item::next> held_;
};

} // namespace fult::comm::detail
