// The functions that this program can execute for other ranks.
#pragma once

#include <cstdint>
#include <string>

#include <fult/global/spawn_at.hpp>

namespace fult::global::detail {

struct found_function {
    const remote_function *what = nullptr; // null: there is none
    bool ambiguous = false;                // several have the name
};
found_function find_function(std::uint64_t hash);
// As a person writes it, without what the library adds.
std::string readable_name(const remote_function &of);

} // namespace fult::global::detail
