// The cache of a rank that an application asks for.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/global/cache.hpp>

namespace apps {

// Of as many MiB; 0: without a bound.
inline fult::global::cache_options rank_cache(std::uint64_t mebibytes) {
    if (mebibytes == 0)
        return {};
    return {.policy = fult::global::cache_policy::lru, .bytes = std::size_t(mebibytes) << 20};
}

} // namespace apps
