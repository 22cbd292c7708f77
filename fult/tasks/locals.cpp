#include "locals.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <system_error>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/detail/fast_path.hpp>

#include "fult/base/spin_lock.hpp"
#include "fult/scheduler/way_home.hpp"
#include "fult/scheduler/worker.hpp"
#include "task.hpp"

namespace fult::detail {
namespace {

constexpr std::uint32_t most_keys = 1024;
constexpr unsigned rounds = 4;

struct key_record {
    std::atomic<local_key> key{0}; // 0: free
    std::uint64_t uses = 0;
    end_function end = nullptr;
    copy_function copy = nullptr;
};
constinit key_record keys[most_keys];
constinit spin_lock keys_lock;

// The record of a living key, or nullptr. A caller that has a value knows that its key is living, or the
// result does not matter.
const key_record *record_of(local_key key) noexcept {
    const key_record &record = keys[index_of(key) % most_keys];
    return key != 0 && record.key.load(std::memory_order_acquire) == key ? &record : nullptr; // with make_key
}

local_entry *entry_of(local_values &values, local_key key) noexcept {
    const std::uint32_t index = index_of(key);
    if (index < local_values::near_count)
        return &values.near[index];
    return index - local_values::near_count < values.far_count ? &values.far[index - local_values::near_count]
                                                               : nullptr;
}

template <class Visit> void each_entry(local_values &values, const Visit &visit) {
    for (local_entry &entry : values.near)
        visit(entry);
    for (std::uint32_t i = 0; i < values.far_count; ++i) // a visit may add entries
        visit(values.far[i]);
}

thread_local local_values *used_values = nullptr; // of this foreign thread, if it has ever used a value

// The values of a foreign thread.
struct thread_values : local_values {
    ~thread_values() {
        end_locals(*this);
        used_values = nullptr;
        delete[] far;
    }
};
FULT_OPAQUE local_values &values_of_thread() {
    static thread_local thread_values values;
    used_values = &values;
    return values;
}

// The caller's values; nullptr if a task has none.
local_values *my_values() noexcept {
    const worker *w = this_worker();
    if (!w || !w->current)
        return &values_of_thread();
    return w->current->extras;
}

} // namespace

local_key make_key(end_function end, copy_function copy) {
    local_key made = 0;
    keys_lock.lock();
    key_record *const free = std::find_if(std::begin(keys), std::end(keys), [](const key_record &each) {
        return each.key.load(std::memory_order_relaxed) == 0;
    });
    if (free != std::end(keys)) {
        free->end = end;
        free->copy = copy;
        made = make_local_key(static_cast<std::uint32_t>(free - keys), ++free->uses);
        free->key.store(made, std::memory_order_release); // pairs with record_of
    }
    keys_lock.unlock();
    if (made == 0)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                                "fult: task_local_ptr: there are 1024 keys already; destroy some");
    return made;
}

bool delete_key(local_key key) noexcept {
    keys_lock.lock();
    const bool is_one = is_key(key);
    if (is_one)
        keys[index_of(key)].key.store(0, std::memory_order_relaxed);
    keys_lock.unlock();
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
    local_values *values = my_values();
    if (!values) {
        if (!value)
            return;
        task *const t = this_worker()->current;
        FULT_ASSERT(!t->extras);
        auto extras = std::make_unique<task_extras>();
        values = extras.get();
        static_cast<worker *>(home_of(t))->set_extras(t, std::move(extras));
        // The first base, as get_local assumes.
        static_assert(std::is_base_of_v<local_values, task_extras> && !std::is_polymorphic_v<task_extras>);
        set_at_end(t, has_locals);
    }
    make_room(*values, key);
    put_local(*values, key, value);
}

void *get_far_local(local_key key) noexcept {
    local_values *const values = my_values();
    if (worker *const w = this_worker(); w && w->current)
        cache_locals(w, values);
    const local_entry *const entry = values ? entry_of(*values, key) : nullptr;
    return entry && entry->key == key ? entry->value : nullptr;
}

void inherit_locals(local_values &values) {
    local_values *const mine = my_values();
    if (!mine)
        return;
    each_entry(*mine, [&](const local_entry entry) { // a value: the copy may set values and move the entries
        const key_record *const record = record_of(entry.key);
        if (!record || !entry.value || (record->end && !record->copy))
            return;
        make_room(values, entry.key);
        if (has_entry(values, entry.key))
            return; // the spawner has set another value
        put_local(values, entry.key, record->copy ? record->copy(entry.value) : entry.value);
    });
}

void end_locals(local_values &values) noexcept {
    bool again = true;
    for (unsigned round = 0; again && round < rounds; ++round) {
        again = false;
        for (std::uint32_t i = 0; i < local_values::near_count + values.far_count; ++i) {
            local_entry &place =
                i < local_values::near_count ? values.near[i] : values.far[i - local_values::near_count];
            const local_entry entry = std::exchange(place, local_entry{}); // the call may move the entry
            const key_record *const record = entry.value ? record_of(entry.key) : nullptr;
            if (record && record->end) {
                record->end(entry.value);
                again = true;
            }
        }
    }
}

void end_locals_of_thread() noexcept {
    if (used_values)
        end_locals(*used_values);
}

} // namespace fult::detail
