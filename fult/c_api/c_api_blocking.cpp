// The C interface of sleeping, blocking calls and descriptors.
#include <chrono>

#include <fult/blocking.h>
#include <fult/blocking.hpp>
#include <fult/descriptor.hpp>
#include <fult/sync/sleep.hpp>

#include "c_api.hpp"

using namespace fult::detail;

namespace {

int wait_for(int descriptor, direction what, std::int64_t nanoseconds) noexcept {
    return status_of([&] {
        const auto limits = nanoseconds < 0
                                ? wait_limits()
                                : wait_limits(deadline_after(std::chrono::nanoseconds(nanoseconds)));
        switch (wait_descriptor(descriptor, what, limits)) {
        case fult::descriptor_status::ready:
            return FULT_SUCCESS;
        case fult::descriptor_status::closed:
            return FULT_ERR_CLOSED;
        default:
            return FULT_ERR_TIMEOUT;
        }
    });
}

} // namespace

int fult_sleep_for(int64_t nanoseconds) {
    return status_of([&] {
        fult::this_task::sleep_for(std::chrono::nanoseconds(nanoseconds));
        return FULT_SUCCESS;
    });
}

int fult_blocking(fult_function_t function, void *argument, void **result) {
    if (!function)
        return reject_argument("function is NULL");
    return status_of([&] {
        void *value = fult::run_blocking(function, argument);
        if (result)
            *result = value;
        return FULT_SUCCESS;
    });
}

int fult_wait_readable(int descriptor, int64_t nanoseconds) {
    return wait_for(descriptor, direction::reading, nanoseconds);
}
int fult_wait_writable(int descriptor, int64_t nanoseconds) {
    return wait_for(descriptor, direction::writing, nanoseconds);
}
int fult_close_descriptor(int descriptor) { return fult::close_descriptor(descriptor); }
