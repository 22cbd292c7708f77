#include "locals.hpp"

#include <algorithm>
#include <atomic>
#include <cxxabi.h>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "fult/base/spin_lock.hpp"
#include "fult/scheduler/way_home.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"

extern "C" {
extern void *__dso_handle
    __attribute__((visibility("hidden"))); // NOLINT: the C++ runtime's name for this library
}

namespace fult::detail {
namespace {

constexpr std::uint32_t max_keys = 1024;
constexpr unsigned rounds = 4;

struct key_record {
    std::atomic<local_key> key{0}; // 0: free
    std::uint64_t uses = 0;
    key_functions functions;
};
constinit key_record keys[max_keys];
constinit spin_lock keys_lock;

// The record of a living key, or nullptr. A caller that has a value knows that its key is living, or the
// result does not matter.
const key_record *record_of(local_key key) noexcept {
    const key_record &record = keys[index_of(key) % max_keys];
    return key != 0 && record.key.load(std::memory_order_acquire) == key ? &record : nullptr; // with make_key
}

// The entry of a key by its index; nullptr if there is no room for it.
local_entry *entry_at(local_values &values, std::uint32_t index) noexcept {
    if (index < local_values::near_count)
        return &values.near[index];
    return index - local_values::near_count < values.far_count ? &values.far[index - local_values::near_count]
                                                               : nullptr;
}

local_entry *entry_of(local_values &values, local_key key) noexcept {
    return entry_at(values, index_of(key));
}

template <class Visit> void each_entry(local_values &values, const Visit &visit) {
    for (std::uint32_t i = 0; local_entry *entry = entry_at(values, i); ++i) // a visit may add entries
        visit(*entry);
}

// The values of a foreign thread. They exist from the first set_local to the end of the thread, and again if
// a destructor of a thread_local or static object sets values after that: then until the destructors
// registered before have run. C++ destroys a thread_local object once, so this one is a plain pointer. In
// destructors of static objects there is no end of the thread any more, and the values are not ended.
struct thread_values : local_values {
    thread_values() noexcept = default;
    thread_values(const thread_values &) = delete;
    thread_values &operator=(const thread_values &) = delete;
    ~thread_values() { delete[] far; }
};
constinit thread_local thread_values *values_here = nullptr;

// The destructors of values still find the values.
void end_thread_values(void *) noexcept {
    end_locals(*values_here);
    delete std::exchange(values_here, nullptr);
}

// The values of this thread, or nullptr. Opaque: the caller may have been on another thread before.
FULT_OPAQUE local_values *values_of_thread() noexcept { return values_here; }

FULT_OPAQUE local_values &make_values_of_thread() {
    FULT_ASSERT(!values_here);
    auto made = std::make_unique<thread_values>();
    if (abi::__cxa_thread_atexit(&end_thread_values, nullptr, &__dso_handle) != 0)
        throw std::bad_alloc();
    values_here = made.release();
    return *values_here;
}

// The caller's values; nullptr if it has none.
local_values *current_values() noexcept {
    task *const t = running_task();
    return t ? t->extras : values_of_thread();
}

// Called if the caller has none.
local_values &make_current_values() {
    task *const t = running_task();
    if (!t)
        return make_values_of_thread();
    FULT_ASSERT(!t->extras);
    auto extras = std::make_unique<task_extras>();
    local_values &values = *extras;
    static_cast<worker *>(home_of(t))->set_extras(t, std::move(extras));
    // The first base, as get_local assumes.
    static_assert(std::is_base_of_v<local_values, task_extras> && !std::is_polymorphic_v<task_extras>);
    set_at_end(t, has_locals);
    return values;
}

} // namespace

local_key make_key(const key_functions &functions) {
    FULT_ASSERT((!functions.end || functions.call_end) && (!functions.copy || functions.call_copy));
    const std::lock_guard guard(keys_lock);
    key_record *const free = std::find_if(std::begin(keys), std::end(keys), [](const key_record &each) {
        return each.key.load(std::memory_order_relaxed) == 0;
    });
    if (free == std::end(keys))
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                "fult: task_local_ptr: there are 1024 keys already; destroy some");
    free->functions = functions;
    const local_key made = make_local_key(static_cast<std::uint32_t>(free - keys), ++free->uses);
    free->key.store(made, std::memory_order_release); // pairs with record_of
    return made;
}

bool delete_key(local_key key) noexcept {
    const std::lock_guard guard(keys_lock);
    const bool is_one = is_key(key);
    if (is_one)
        keys[index_of(key)].key.store(0, std::memory_order_relaxed);
    return is_one;
}

bool is_key(local_key key) noexcept { return record_of(key) != nullptr; }

bool has_entry(local_values &values, local_key key) noexcept {
    const local_entry *const entry = entry_of(values, key);
    return entry && entry->key == key;
}

void make_room(local_values &values, local_key key) {
    if (entry_of(values, key))
        return;
    const std::uint32_t wanted = std::max(index_of(key) - local_values::near_count + 1, 2 * values.far_count);
    auto *more = new local_entry[wanted];
    std::copy_n(values.far, values.far_count, more);
    delete[] std::exchange(values.far, more);
    FULT_ASSERT(wanted > values.far_count);
    values.far_count = wanted;
}

void put_local(local_values &values, local_key key, void *value) noexcept {
    FULT_ASSERT(entry_of(values, key), "make_room comes first");
    *entry_of(values, key) = {key, value};
}

void set_local(local_key key, void *value) {
    local_values *values = current_values();
    if (!values) {
        if (!value)
            return;
        values = &make_current_values();
    }
    make_room(*values, key);
    put_local(*values, key, value);
}

void *get_far_local(local_key key) noexcept {
    local_values *const values = current_values();
    if (running_task())
        cache_locals(this_worker(), values);
    const local_entry *const entry = values ? entry_of(*values, key) : nullptr;
    return entry && entry->key == key ? entry->value : nullptr;
}

void inherit_locals(local_values &values) {
    local_values *const mine = current_values();
    if (!mine)
        return;
    each_entry(*mine, [&](const local_entry entry) { // a value: the copy may set values and move the entries
        const key_record *const record = record_of(entry.key);
        if (!record || !entry.value || (record->functions.end && !record->functions.copy))
            return;
        make_room(values, entry.key);
        if (has_entry(values, entry.key))
            return; // the spawner has set another value
        const key_functions &its = record->functions;
        put_local(values, entry.key, its.copy ? its.call_copy(its.copy, entry.value) : entry.value);
    });
}

void end_locals(local_values &values) noexcept {
    bool again = true;
    for (unsigned round = 0; again && round < rounds; ++round) {
        again = false;
        each_entry(values, [&](local_entry &place) {
            const local_entry entry = std::exchange(place, local_entry{}); // the call may move the entry
            const key_record *const record = entry.value ? record_of(entry.key) : nullptr;
            if (record && record->functions.end) {
                record->functions.call_end(record->functions.end, entry.value);
                again = true;
            }
        });
    }
    if (again)
        each_entry(values, [](local_entry &entry) { entry = {}; });
}

void end_locals_of_thread() noexcept {
    if (local_values *const values = values_of_thread())
        end_locals(*values);
}

} // namespace fult::detail
