// Counts what is queued.
#pragma once

#include <cstddef>

#include "comm/match/match_item.hpp"

// Exact without concurrent calls.
template <class Matcher> std::size_t count_items(Matcher &in, fult::comm::detail::match_kind kind) {
    std::size_t count = 0;
    in.remove_if(kind, [&](auto &) {
        ++count;
        return false;
    });
    return count;
}
