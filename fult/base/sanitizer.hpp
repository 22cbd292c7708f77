// Annotations of stacks for the sanitizers and Valgrind; empty in ordinary builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define FULT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FULT_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FULT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FULT_TSAN 1
#endif
#endif

// Marks a function that deliberately reads what another thread changes by plain stores. The value may be
// outdated.
#if defined(FULT_TSAN)
#define FULT_RACY_READ __attribute__((noinline, no_sanitize("thread")))
#else
#define FULT_RACY_READ
#endif

#if defined(FULT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(FULT_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(FULT_VALGRIND)
#include <valgrind/valgrind.h>
#endif

namespace fult::detail::sanitizer {

#if defined(FULT_TSAN)
inline constexpr bool thread = true;
#else
inline constexpr bool thread = false;
#endif

// TSan: one fiber a stack. ---------------------------------------------------------------------------------------------------
inline void *fiber_create() noexcept {
#if defined(FULT_TSAN)
    return __tsan_create_fiber(0);
#else
    return nullptr;
#endif
}
inline void *fiber_current() noexcept {
#if defined(FULT_TSAN)
    return __tsan_get_current_fiber();
#else
    return nullptr;
#endif
}
inline void fiber_destroy([[maybe_unused]] void *fiber) noexcept {
#if defined(FULT_TSAN)
    if (fiber)
        __tsan_destroy_fiber(fiber);
#endif
}

// Around a jump. `fake` keeps ASan's fake frames of the context that is left. ------------------------------------------------
inline void before_jump([[maybe_unused]] void **fake, [[maybe_unused]] const void *bottom,
                        [[maybe_unused]] std::size_t size, [[maybe_unused]] void *fiber) noexcept {
#if defined(FULT_ASAN)
    __sanitizer_start_switch_fiber(fake, bottom, size);
#endif
#if defined(FULT_TSAN)
    __tsan_switch_to_fiber(fiber, 0);
#endif
}
inline void after_jump([[maybe_unused]] void *fake) noexcept {
#if defined(FULT_ASAN)
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

// Memory that held frames and is used again. ----------------------------------------------------------------------------------
inline void clean([[maybe_unused]] void *begin, [[maybe_unused]] std::size_t size) noexcept {
#if defined(FULT_ASAN)
    __asan_unpoison_memory_region(begin, size);
#endif
}

// Valgrind -------------------------------------------------------------------------------------------------------------------
inline unsigned register_stack([[maybe_unused]] void *low, [[maybe_unused]] void *high) noexcept {
#if defined(FULT_VALGRIND)
    return VALGRIND_STACK_REGISTER(low, high);
#else
    return 0;
#endif
}
inline void deregister_stack([[maybe_unused]] unsigned id) noexcept {
#if defined(FULT_VALGRIND)
    VALGRIND_STACK_DEREGISTER(id);
#endif
}
inline bool under_valgrind() noexcept {
#if defined(FULT_VALGRIND)
    return RUNNING_ON_VALGRIND != 0;
#else
    return false;
#endif
}

} // namespace fult::detail::sanitizer
