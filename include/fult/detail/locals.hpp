// Keys of task-local values, and the fast read.
#pragma once

#include <cstdint>

#include <fult/detail/layout.hpp>

namespace fult {
namespace detail {

// From the lowest bits on: the byte offset of its entry in local_values::near, or 0; its index in the table
// of keys; the use count of that index. Never 0.
using local_key = std::uint64_t;
inline constexpr unsigned key_offset_bits = 8;
inline constexpr unsigned key_index_bits = 16;

inline constexpr local_key make_local_key(std::uint32_t index, std::uint64_t use) noexcept {
    const std::size_t offset = index < local_values::near_count ? index * sizeof(local_entry) : 0;
    return (use << key_index_bits | index) << key_offset_bits | offset;
}
inline constexpr std::uint32_t index_of(local_key key) noexcept {
    return static_cast<std::uint32_t>(key >> key_offset_bits & ((1u << key_index_bits) - 1));
}
static_assert(local_values::near_count * sizeof(local_entry) <= 1u << key_offset_bits);

// A key's functions, and how they are called: a function is called by its own type, which depends on the
// values'.
using any_function = void (*)();
struct key_functions {
    any_function end = nullptr, copy = nullptr; // null: none
    void (*call_end)(any_function end, void *value) = nullptr;
    void *(*call_copy)(any_function copy, const void *value) = nullptr; // may throw
};

FULT_API local_key make_key(const key_functions &functions); // throws std::system_error
FULT_API bool delete_key(local_key key) noexcept;            // false: no such key
FULT_API bool is_key(local_key key) noexcept;
FULT_API void set_local(local_key key, void *value); // throws std::bad_alloc
// used if the value is not in `near` of the cached values
FULT_API void *get_far_local(local_key key) noexcept;

// The value of the running task, or of this foreign thread; nullptr if there is none.
FULT_ALWAYS_INLINE void *get_local(local_key key) noexcept {
    const std::size_t offset = key & ((1u << key_offset_bits) - 1);
    const auto *entry = reinterpret_cast<const local_entry *>(
        reinterpret_cast<const std::byte *>(cached_locals()->near) + offset);
    return entry->key == key ? entry->value : get_far_local(key);
}

} // namespace detail

// A value for a task to be spawned: spawn_options::locals. Created by task_local_ptr::make_value.
struct local_value {
    detail::local_key key = 0;
    void *value = nullptr;
};

} // namespace fult
