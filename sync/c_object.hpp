// What the C interface of sync shares: its objects, and exceptions as statuses.
#pragma once

#include <chrono>
#include <new>
#include <stdexcept>
#include <system_error>

#include <fult/sync.h>

namespace fult::detail {

// Exceptions end here: C has none.
template <class Body> int status_of(const Body &body) noexcept {
    try {
        return body();
    } catch (const std::invalid_argument &) {
        return FULT_ERR_INVALID;
    } catch (const std::bad_alloc &) {
        return FULT_ERR_NO_MEMORY;
    } catch (const std::length_error &) {
        return FULT_ERR_NO_MEMORY;
    } catch (const std::system_error &) {
        return FULT_ERR_NO_MEMORY;
    }
}

// Object is the C structure; it holds its C++ counterpart in `it`.
template <class Object, class... Arguments> int create(Object **out, Arguments... arguments) noexcept {
    if (!out)
        return FULT_ERR_INVALID;
    return status_of([&] {
        *out = new Object(arguments...);
        return int{FULT_SUCCESS};
    });
}
template <class Object> int destroy(Object *object) noexcept {
    if (!object)
        return FULT_ERR_INVALID;
    delete object;
    return FULT_SUCCESS;
}
// body(the C++ object) says the status.
template <class Object, class Body> int with(Object *object, const Body &body) noexcept {
    return object ? status_of([&] { return body(object->it); }) : int{FULT_ERR_INVALID};
}
// body(the C++ object) cannot fail.
template <class Object, class Body> int perform(Object *object, const Body &body) noexcept {
    return with(object, [&](auto &it) {
        body(it);
        return int{FULT_SUCCESS};
    });
}

inline int or_else(bool done, int status) noexcept { return done ? int{FULT_SUCCESS} : status; }

// Below 0: without a limit.
inline std::chrono::nanoseconds limit(std::int64_t nanoseconds) noexcept {
    return nanoseconds < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(nanoseconds);
}

} // namespace fult::detail
