// Reading a task-local value, and what the keys are.
#pragma once

#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult {
namespace detail {

// A place in the table of keys, and which use of that place: low and high bits. Never 0.
using local_key = std::uint64_t;
inline constexpr unsigned key_index_bits = 16;

FULT_ALWAYS_INLINE std::uint32_t index_of(local_key key) noexcept {
    return static_cast<std::uint32_t>(key & ((1u << key_index_bits) - 1));
}

using end_function = void (*)(void *value);
using copy_function = void *(*)(const void *value); // may throw

FULT_API local_key make_key(end_function end, copy_function copy); // throws std::system_error
FULT_API bool delete_key(local_key key) noexcept;                  // false: no such key
FULT_API bool is_key(local_key key) noexcept;
FULT_API void set_local(local_key key, void *value);  // throws std::bad_alloc
FULT_API void *get_far_local(local_key key) noexcept; // everywhere else than in `near` of a task

// The value of the running task, or of this foreign thread; null where there is none.
FULT_ALWAYS_INLINE void *get_local(local_key key) noexcept {
    const task *const t = current_worker()->current;
    const std::uint32_t index = index_of(key);
    if (!t || index >= local_values::near_count) [[unlikely]]
        return get_far_local(key);
    const auto *values = reinterpret_cast<const local_values *>(t->extras); // its base (fult/locals.cpp)
    if (!values)
        return nullptr;
    const local_entry &entry = values->near[index];
    return entry.key == key ? entry.value : nullptr;
}

} // namespace detail

// A value for a task to come: spawn_options::locals. Made by task_local_ptr::with.
struct local_value {
    detail::local_key key = 0;
    void *value = nullptr;
};

} // namespace fult
