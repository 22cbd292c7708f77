// Addresses as integers. The conversions that are needed for address arithmetic, and for words that are a
// pointer with flags in its low bits, are here alone.
#pragma once

#include <cstdint>

#include <fult/detail/platform.hpp>

namespace fult::detail {

FULT_ALWAYS_INLINE std::uintptr_t address_of(const volatile void *at) noexcept {
    return reinterpret_cast<std::uintptr_t>(at);
}

// The inverse. The caller knows that there is a T, or does not dereference the result before it is checked.
template <class T> FULT_ALWAYS_INLINE T *at_address(std::uintptr_t address) noexcept {
    return reinterpret_cast<T *>(address); // NOLINT(performance-no-int-to-ptr)
}

} // namespace fult::detail
