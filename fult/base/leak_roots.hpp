// LeakSanitizer looks for pointers in global data, in the stacks of threads, and in the heap. Memory that the
// library maps itself must be registered, or it reports what only that memory points to. Programs may have
// LeakSanitizer, or AddressSanitizer with it, where the library has not.
#pragma once

#include <cstddef>

extern "C" {
[[gnu::weak]] void __lsan_register_root_region(const void *begin, std::size_t bytes);
[[gnu::weak]] void __lsan_unregister_root_region(const void *begin, std::size_t bytes);
}

namespace fult::detail {

inline bool looks_for_leaks() noexcept {
    return &__lsan_register_root_region != nullptr && &__lsan_unregister_root_region != nullptr;
}
// Each range that is added is removed as a whole, before it is unmapped.
inline void add_leak_root(const void *begin, std::size_t bytes) noexcept {
    if (looks_for_leaks()) [[unlikely]]
        __lsan_register_root_region(begin, bytes);
}
inline void remove_leak_root(const void *begin, std::size_t bytes) noexcept {
    if (looks_for_leaks()) [[unlikely]]
        __lsan_unregister_root_region(begin, bytes);
}

} // namespace fult::detail
