// pthread_getattr_np, which garbage collectors and interpreters ask for the stack of their thread. Tasks and
// members run on stacks of the library's, of which the system knows nothing: on one of these the answer is
// its bounds. Any other question goes to the C library.
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>

#include <fult/detail/platform.hpp>
#include <fult/detail/running_stack.hpp>

#include "fult/base/sanitizer.hpp"

namespace {

using getattr_function = int (*)(pthread_t, pthread_attr_t *);

// A sanitizer calls this before anything is constructed; ThreadSanitizer, at the start of a thread, before it
// knows the thread. So nothing here is instrumented.
FULT_RACY_READ getattr_function of_the_system() noexcept {
    static constinit getattr_function found = nullptr;
    getattr_function function = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!function) {
        function = reinterpret_cast<getattr_function>(::dlsym(RTLD_NEXT, "pthread_getattr_np"));
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);
    }
    return function;
}

#if defined(FULT_TSAN) // what finds it is instrumented
FULT_RACY_READ bool is_on_own_stack(fult::stack_bounds &) noexcept { return false; }
#else
bool is_on_own_stack(fult::stack_bounds &own) noexcept { return fult::detail::runs_on_own_stack(own); }
#endif

} // namespace

// Under the versions by which programs refer to it, and hidden from the linker: what is linked with this
// library refers to the C library's.
extern "C" {
[[gnu::used]] FULT_RACY_READ int fult_omp_getattr(pthread_t thread, pthread_attr_t *attributes) {
    const getattr_function real = of_the_system();
    if (!real)
        return ENOSYS;
    const int error = real(thread, attributes);
    fult::stack_bounds own{};
    if (error != 0 || !::pthread_equal(thread, ::pthread_self()) || !is_on_own_stack(own))
        return error;
    ::pthread_attr_setstack(attributes, own.low, own.size);
    return ::pthread_attr_setguardsize(attributes, own.guard);
}
[[gnu::used]] FULT_RACY_READ int fult_omp_getattr_first(pthread_t thread, pthread_attr_t *attributes) {
    return fult_omp_getattr(thread, attributes);
}
}

FULT_SYMBOL_VERSION(fult_omp_getattr, "pthread_getattr_np@GLIBC_2.32");
#if defined(__x86_64__)
FULT_SYMBOL_VERSION(fult_omp_getattr_first, "pthread_getattr_np@GLIBC_2.2.5");
#else
FULT_SYMBOL_VERSION(fult_omp_getattr_first, "pthread_getattr_np@GLIBC_2.17");
#endif
