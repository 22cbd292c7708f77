// pthread_getattr_np, which garbage collectors and interpreters ask for the stack of their thread. Tasks and
// members run on stacks of the library's, of which the system knows nothing: on one of these the answer is
// its bounds. Any other question goes to the C library.
#include <atomic>
#include <cerrno>
#include <dlfcn.h>
#include <pthread.h>

#include <fult/detail/platform.hpp>
#include <fult/detail/running_stack.hpp>

namespace {

using getattr_function = int (*)(pthread_t, pthread_attr_t *);

// A sanitizer calls this before anything is constructed.
getattr_function of_the_system() noexcept {
    static constinit std::atomic<getattr_function> found{nullptr};
    getattr_function function = found.load(std::memory_order_relaxed);
    if (!function) {
        function = reinterpret_cast<getattr_function>(::dlsym(RTLD_NEXT, "pthread_getattr_np"));
        found.store(function, std::memory_order_relaxed);
    }
    return function;
}

} // namespace

// Under the versions by which programs refer to it, and hidden from the linker: what is linked with this
// library refers to the C library's.
extern "C" {
[[gnu::used]] int fult_omp_getattr(pthread_t thread, pthread_attr_t *attributes) {
    const getattr_function real = of_the_system();
    if (!real)
        return ENOSYS;
    const int error = real(thread, attributes);
    fult::stack_bounds own{};
    if (error != 0 || !::pthread_equal(thread, ::pthread_self()) || !fult::detail::runs_on_own_stack(own))
        return error;
    ::pthread_attr_setstack(attributes, own.low, own.size);
    return ::pthread_attr_setguardsize(attributes, own.guard);
}
[[gnu::used]] int fult_omp_getattr_first(pthread_t thread, pthread_attr_t *attributes) {
    return fult_omp_getattr(thread, attributes);
}
}

FULT_SYMBOL_VERSION(fult_omp_getattr, "pthread_getattr_np@GLIBC_2.32");
#if defined(__x86_64__)
FULT_SYMBOL_VERSION(fult_omp_getattr_first, "pthread_getattr_np@GLIBC_2.2.5");
#else
FULT_SYMBOL_VERSION(fult_omp_getattr_first, "pthread_getattr_np@GLIBC_2.17");
#endif
