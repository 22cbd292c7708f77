#include "comm/protocol/early_messages.hpp"

namespace fult::comm::detail {

void early_messages::append(arrived &m) noexcept { held_.append(m); }

arrived *early_messages::take() noexcept {
    match_item *const m = held_.take();
    if (m)
        m->next = nullptr;
    return static_cast<arrived *>(static_cast<wildcard_item *>(m));
}

early_messages early_messages::take_of(unsigned endpoint) noexcept {
    early_messages its, others;
    while (arrived *m = take())
        (m->key >> 52 == endpoint ? its : others).append(*m);
    *this = others;
    return its;
}

} // namespace fult::comm::detail
