#include "comm/device/early_messages.hpp"

#include <utility>

#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

void early_messages::append(arrived &m) noexcept {
    FULT_ASSERT(!first_ || last_, "a list that is not empty has an end");
    m.match_item::next = nullptr;
    if (first_)
        last_->match_item::next = &m;
    else
        first_ = &m;
    last_ = &m;
}

arrived *early_messages::take() noexcept {
    arrived *const m = first_;
    if (m)
        first_ =
            static_cast<arrived *>(static_cast<wildcard_item *>(std::exchange(m->match_item::next, nullptr)));
    return m;
}

early_messages early_messages::take_of(unsigned endpoint) noexcept {
    early_messages its, others;
    while (arrived *m = take())
        (m->key >> 52 == endpoint ? its : others).append(*m);
    *this = others;
    return its;
}

} // namespace fult::comm::detail
