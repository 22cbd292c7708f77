// Task groups in C, where the first result that is not NULL corresponds to the first exception; task-local
// values.
#include <algorithm>
#include <iterator>
#include <new>
#include <vector>

#include <fult/fult.h>
#include <fult/join.hpp>
#include <fult/task_group.hpp>
#include <fult/task_local.hpp>

#include "c_api.hpp"
#include "c_handles.hpp"
#include "c_object.hpp"

using namespace fult::detail;

struct fult_group {
    group_core object;
};

namespace {

constexpr const char *no_such_key = "there is no such key: it was never created or has been deleted";

struct c_group_call {
    group_core *group;
    fult_function_t function;
    void *argument;
    void operator()() &&noexcept {
        if (group->is_stopped())
            return;
        if (void *failure = function(argument))
            group->fail_with(failure);
    }
};

} // namespace

int fult_wait_any(const fult_task_t *tasks, size_t count, size_t *first) {
    if (!tasks && count != 0)
        return reject_argument("tasks is NULL");
    if (!first)
        return reject_argument("first is NULL");
    return status_of([&] {
        std::vector<task *> all;
        all.reserve(count);
        std::transform(tasks, tasks + count, std::back_inserter(all),
                       [](fult_task_t each) { return task_of(each, "fult_wait_any"); });
        *first = await_any(all.data(), count, nullptr);
    });
}

int fult_group_create(fult_group_t *group) { return create(group); }

int fult_group_destroy(fult_group_t group) {
    if (group)
        group->object.wait_until_empty();
    return destroy(group);
}

int fult_group_spawn(fult_group_t group, fult_function_t function, void *argument) {
    if (!function)
        return reject_argument("function is NULL");
    return call_with(group, [&](group_core &core) {
        core.spawn(c_group_call{&core, function, argument});
        return set_status(FULT_SUCCESS, "");
    });
}

int fult_group_spawn_with(fult_group_t group, fult_function_t function, void *argument,
                          const fult_spawn_attr *attr) {
    if (!attr)
        return fult_group_spawn(group, function, argument);
    if (!function)
        return reject_argument("function is NULL");
    if (attr->size < sizeof(fult_spawn_attr))
        return reject_argument(wrong_attr_size);
    return call_with(group, [&](group_core &core) {
        core.spawn_with(take_slot_with(options_of(*attr)), c_group_call{&core, function, argument});
        return set_status(FULT_SUCCESS, "");
    });
}

int fult_group_wait(fult_group_t group, void **failure) {
    return call_with(group, [&](group_core &core) {
        core.wait_until_empty();
        void *first = core.take_failure();
        core.reset();
        if (failure)
            *failure = first;
    });
}

int fult_group_request_stop(fult_group_t group) {
    return call_with(group, [](group_core &core) { core.request_stop(); });
}

int fult_group_stop_requested(fult_group_t group) { return group && group->object.is_stopped() ? 1 : 0; }

int fult_key_create(fult_key_t *key, void (*destructor)(void *)) {
    if (!key)
        return reject_argument("key is NULL");
    const auto call = [](any_function end, void *value) { reinterpret_cast<void (*)(void *)>(end)(value); };
    return status_of(
        [&] { *key = make_key({.end = reinterpret_cast<any_function>(destructor), .call_end = call}); });
}

int fult_key_delete(fult_key_t key) { return delete_key(key) ? FULT_SUCCESS : reject_argument(no_such_key); }

int fult_setspecific(fult_key_t key, const void *value) {
    if (!is_key(key))
        return reject_argument(no_such_key);
    return status_of([&] { set_local(key, const_cast<void *>(value)); });
}

void *fult_getspecific(fult_key_t key) { return is_key(key) ? get_local(key) : nullptr; }
