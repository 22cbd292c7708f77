// Shared by the parts of the C interface with objects: their creation, destruction and calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "c_api.hpp"

namespace fult::detail {

// Object is the C structure; its member `object` is the C++ object. `call` is the name of the calling
// function.
template <class Object, class... Arguments>
int create_for(const char *call, Object **out, Arguments... arguments) noexcept {
    if (!out)
        return reject_argument("the pointer to the new object is NULL", call);
    return status_of([&] {
        *out = new Object(arguments...); // NOLINT(bugprone-unhandled-exception-at-new): status_of does
        return int{FULT_SUCCESS};
    });
}
template <class Object> int create(Object **out, const char *call = __builtin_FUNCTION()) noexcept {
    return create_for(call, out);
}
template <class Object>
int create(Object **out, std::size_t argument, const char *call = __builtin_FUNCTION()) noexcept {
    return create_for(call, out, argument);
}
template <class Object> int destroy(Object *object, const char *call = __builtin_FUNCTION()) noexcept {
    if (!object)
        return reject_argument("the object is NULL", call);
    delete object;
    return FULT_SUCCESS;
}
// body(the C++ object) returns the status, or void for success.
template <class Object, class Body>
int call_with(Object *object, const Body &body, const char *call = __builtin_FUNCTION()) noexcept {
    if (!object)
        return reject_argument("the object is NULL", call);
    return status_of([&]() -> int {
        if constexpr (std::is_void_v<decltype(body(object->object))>)
            return body(object->object), FULT_SUCCESS;
        else
            return body(object->object);
    });
}

inline int ok_or(bool done, int status) noexcept { return done ? int{FULT_SUCCESS} : status; }

// A negative time means no limit.
inline std::chrono::nanoseconds to_duration(std::int64_t nanoseconds) noexcept {
    return nanoseconds < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(nanoseconds);
}

} // namespace fult::detail
