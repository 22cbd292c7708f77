// Messages for endpoints that are not attached yet, or that had no memory for them; oldest first.
#pragma once

#include "comm/base/linked_queue.hpp"
#include "comm/protocol/operation.hpp"

namespace fult::comm::detail {

// The key of such a message is set. Owns none of them.
class early_messages {
  public:
    void append(unexpected_message &m) noexcept { held_.append(m); }
    unexpected_message *take() noexcept { // nullptr if empty
        match_item *const m = held_.take();
        if (m)
            m->next = nullptr;
        return static_cast<unexpected_message *>(static_cast<wildcard_item *>(m));
    }
    early_messages take_of(unsigned endpoint) noexcept {
        early_messages found, others;
        while (unexpected_message *m = take())
            (m->key >> 52 == endpoint ? found : others).append(*m);
        *this = others;
        return found;
    }

  private:
    linked_queue<match_item, &match_item::next> held_;
};

} // namespace fult::comm::detail
