#include "comm/protocol/early_messages.hpp"

namespace fult::comm::detail {

void early_messages::append(unexpected_message &m) noexcept { held_.append(m); }

unexpected_message *early_messages::take() noexcept {
    match_item *const m = held_.take();
    if (m)
        m->next = nullptr;
    return static_cast<unexpected_message *>(static_cast<wildcard_item *>(m));
}

early_messages early_messages::take_of(unsigned endpoint) noexcept {
    early_messages found, others;
    while (unexpected_message *m = take())
        (m->key >> 52 == endpoint ? found : others).append(*m);
    *this = others;
    return found;
}

} // namespace fult::comm::detail
