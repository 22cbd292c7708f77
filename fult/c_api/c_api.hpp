// Shared by the parts of the C interface.
#pragma once

#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <fult/fult.h>
#include <fult/spawn.hpp>

#include "last_error.hpp"

namespace fult::detail {

inline int set_status(int status, const char *why) noexcept {
    set_last_error(why);
    return status;
}

// The same, prefixed with the name of the calling function.
inline int set_status_in(const char *call, int status, const char *what) noexcept {
    set_last_error(call, what);
    return status;
}
inline int reject_argument(const char *what, const char *call = __builtin_FUNCTION()) noexcept {
    return set_status_in(call, FULT_ERR_INVALID, what);
}
inline int reject_without_runtime(const char *call = __builtin_FUNCTION()) noexcept {
    return set_status_in(call, FULT_ERR_NO_RUNTIME, "no runtime is running; call fult_init first");
}
inline int reject_outside_task(const char *call = __builtin_FUNCTION()) noexcept {
    return set_status_in(call, FULT_ERR_NOT_A_TASK,
                         "called on a thread that runs no task; start one with fult_spawn");
}

// Converts exceptions to statuses; their text is stored for fult_last_error. body() returns a status, or void
// for success.
template <class Body> int status_of(const Body &body, int logic_error_means = FULT_ERR_NO_RUNTIME) noexcept {
    try {
        if constexpr (std::is_void_v<decltype(body())>) {
            body();
            return set_status(FULT_SUCCESS, "");
        } else {
            return body();
        }
    } catch (const std::system_error &error) {
        const bool wrong =
            error.code() == std::errc::bad_file_descriptor || error.code() == std::errc::invalid_argument;
        return set_status(wrong ? FULT_ERR_INVALID : FULT_ERR_NO_MEMORY, error.what());
    } catch (const std::bad_alloc &) {
        return set_status(FULT_ERR_NO_MEMORY, "fult: no memory");
    } catch (const std::length_error &error) {
        return set_status(FULT_ERR_NO_MEMORY, error.what());
    } catch (const std::invalid_argument &error) {
        return set_status(FULT_ERR_INVALID, error.what());
    } catch (const std::out_of_range &error) {
        return set_status(FULT_ERR_INVALID, error.what());
    } catch (const std::logic_error &error) {
        return set_status(logic_error_means, error.what());
    }
}

inline constexpr const char *wrong_attr_size =
    "attr->size is not sizeof(fult_spawn_attr); start from FULT_SPAWN_ATTR_INIT";

inline spawn_options options_of(const fult_spawn_attr &attr) noexcept {
    return {.name = attr.name ? attr.name : "",
            .stack_size = attr.stack_size,
            .worker = attr.worker,
            .pinned = attr.pinned != 0};
}

} // namespace fult::detail
