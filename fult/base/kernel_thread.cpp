#include "kernel_thread.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

namespace fult::detail {
namespace {

using thread_body = std::function<void()>;

// The C library puts the thread's record and its thread-local storage there, too.
constexpr std::size_t for_the_system = 64 * 1024;

void *run(void *stored) {
    const std::unique_ptr<thread_body> body(static_cast<thread_body *>(stored));
    (*body)();
    return nullptr;
}

// The C library takes the guard from the stack.
void enlarge_stack(pthread_attr_t &attributes, std::size_t wanted, std::size_t guard) noexcept {
    std::size_t usual = 0, usual_guard = 0;
    ::pthread_attr_getstacksize(&attributes, &usual);
    ::pthread_attr_getguardsize(&attributes, &usual_guard);
    guard = std::max(guard, usual_guard);
    ::pthread_attr_setguardsize(&attributes, guard);
    ::pthread_attr_setstacksize(&attributes, std::max(usual, wanted + for_the_system) + guard);
}

} // namespace

kernel_thread::kernel_thread(std::size_t stack_size, std::size_t guard_size, thread_body body) {
    auto stored = std::make_unique<thread_body>(std::move(body));
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    enlarge_stack(attributes, stack_size, guard_size);
    const int error = ::pthread_create(&thread_, &attributes, &run, stored.get());
    ::pthread_attr_destroy(&attributes);
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "pthread_create");
    stored.release(); // NOLINT(bugprone-unused-return-value): the thread has it
}

} // namespace fult::detail
