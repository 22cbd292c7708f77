// Calls in C that are refused: the status that the header promises, a text that names the call, nothing
// stored or started; and the same call with right arguments goes well afterwards.
#include <cstring>
#include <limits>
#include <unistd.h>

#include <fult/blocking.h>
#include <fult/fult.h>
#include <fult/sync.h>

#include "acts.hpp"
#include "in_c_waits.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

void *never(void *) { fail("a task in C runs whose spawn was refused"); }
void never_once(void *) { fail("fult_once_call calls what it was to refuse"); }

// The text is the kernel thread's: no suspension between the call and this.
void refused(const char *call, int status) {
    check(status == FULT_ERR_INVALID, "%s: status %d of wrong arguments", call, status);
    check(std::strstr(fult_last_error(), call) != nullptr, "%s is refused, and the reason is '%s'", call,
          fult_last_error());
}
// One whose text has the words of the C++ interface.
void refused_with_a_reason(const char *call, int status) {
    check(status == FULT_ERR_INVALID, "%s: status %d of wrong arguments", call, status);
    check(*fult_last_error() != '\0', "%s is refused without a reason", call);
}

void spawns(actor &a) {
    fult_task_t task = nullptr;
    fult_spawn_attr attributes = FULT_SPAWN_ATTR_INIT;
    const auto with_attributes = [&] { return fult_spawn_with(&task, never, nullptr, &attributes); };
    switch (a.random.below(7)) {
    case 0:
        refused("fult_spawn", fult_spawn(&task, nullptr, &a));
        break;
    case 1:
        refused("fult_spawn_with", fult_spawn_with(&task, nullptr, &a, &attributes));
        break;
    case 2:
        attributes.size = a.random.below(sizeof attributes);
        refused("fult_spawn_with", with_attributes());
        break;
    case 3:
        attributes.worker = static_cast<int>(fult_worker_count() + a.random.below(1000));
        refused_with_a_reason("fult_spawn_with", with_attributes());
        break;
    case 4:
        attributes.worker = -2 - static_cast<int>(a.random.below(1000));
        refused_with_a_reason("fult_spawn_with", with_attributes());
        break;
    case 5:
        attributes.stack_size = (std::size_t{1} << 30) + 1 + a.random.below(1000);
        refused_with_a_reason("fult_spawn_with", with_attributes());
        break;
    default:
        if (a.is_task())
            return;
        attributes.pinned = 1; // to no worker
        refused_with_a_reason("fult_spawn_with", with_attributes());
    }
    check(!task, "a refused spawn stores a handle");
}

void joins(actor &a) {
    fult_task_t none = nullptr;
    std::size_t first = 77;
    switch (a.random.below(7)) {
    case 0:
        return refused("fult_join", fult_join(nullptr, nullptr));
    case 1:
        return refused("fult_detach", fult_detach(nullptr));
    case 2:
        return refused("fult_join_all", fult_join_all(nullptr, 1, nullptr));
    case 3:
        return refused("fult_join_all", fult_join_all(&none, 1, nullptr));
    case 4:
        return refused("fult_wait_any", fult_wait_any(nullptr, 1, &first));
    case 5:
        return refused("fult_wait_any", fult_wait_any(&none, 1, nullptr));
    default:
        expect_in_c("fult_join_all", fult_join_all(nullptr, 0, nullptr));
        check(fult_task_id(nullptr) == 0, "no task has an id");
        if (const int status = fult_wait_any(&none, 1, &first); status == FULT_SUCCESS)
            check(first == 1, "fult_wait_any of no task: %zu", first);
    }
}

void groups(actor &a) {
    switch (a.random.below(6)) {
    case 0:
        return refused("fult_group_create", fult_group_create(nullptr));
    case 1:
        return refused("fult_group_destroy", fult_group_destroy(nullptr));
    case 2:
        return refused("fult_group_spawn", fult_group_spawn(nullptr, never, nullptr));
    case 3:
        return refused("fult_group_wait", fult_group_wait(nullptr, nullptr));
    case 4:
        return refused("fult_group_request_stop", fult_group_request_stop(nullptr));
    default: {
        check(fult_group_stop_requested(nullptr) == 0, "no group is stopped");
        const owned_in_c<fult_group_t> group(fult_group_create, fult_group_destroy);
        fult_spawn_attr attributes = FULT_SPAWN_ATTR_INIT;
        refused("fult_group_spawn", fult_group_spawn(group, nullptr, nullptr));
        refused("fult_group_spawn_with", fult_group_spawn_with(group, nullptr, nullptr, &attributes));
        attributes.size = 1;
        refused("fult_group_spawn_with", fult_group_spawn_with(group, never, nullptr, &attributes));
        attributes = FULT_SPAWN_ATTR_INIT;
        attributes.worker = -2;
        refused_with_a_reason("fult_group_spawn_with",
                              fult_group_spawn_with(group, never, nullptr, &attributes));
        void *failure = &failure;
        expect_in_c("fult_group_wait", fult_group_wait(group, &failure));
        check(!failure, "an empty group in C has a failure");
        expect_in_c("fult_group_request_stop", fult_group_request_stop(group));
        check(fult_group_stop_requested(group) == 1, "a stopped group in C is none");
        if (const int status = fult_group_spawn(group, never, nullptr); status != FULT_SUCCESS)
            expect_in_c("fult_group_spawn", status, FULT_ERR_NO_MEMORY);
        expect_in_c("fult_group_wait", fult_group_wait(group, &failure));
        check(!failure && fult_group_stop_requested(group) == 0, "a group in C is not as new after its wait");
    }
    }
}

void keys(actor &a) {
    const fult_key_t no_key = a.random.one_in(2) ? 0 : ~fult_key_t{0} - a.random.below(1000);
    refused("fult_key_create", fult_key_create(nullptr, nullptr));
    refused("fult_key_delete", fult_key_delete(no_key));
    refused("fult_setspecific", fult_setspecific(no_key, &a));
    check(!fult_getspecific(no_key), "a key that does not exist has a value");
}

// All calls of an object of sync.h with none.
void no_object(actor &a) {
    void *value = nullptr;
    std::uint64_t word = 0;
#define FULT_REFUSED(call, ...) refused(#call, call(__VA_ARGS__))
    switch (a.random.below(5)) {
    case 0:
        FULT_REFUSED(fult_qlock_create, nullptr);
        FULT_REFUSED(fult_qlock_destroy, nullptr);
        FULT_REFUSED(fult_qlock_lock, nullptr);
        FULT_REFUSED(fult_qlock_trylock, nullptr);
        FULT_REFUSED(fult_qlock_timedlock, nullptr, -1);
        FULT_REFUSED(fult_qlock_unlock, nullptr);
        FULT_REFUSED(fult_shared_qlock_create, nullptr);
        FULT_REFUSED(fult_shared_qlock_destroy, nullptr);
        FULT_REFUSED(fult_shared_qlock_lock, nullptr);
        FULT_REFUSED(fult_shared_qlock_trylock, nullptr);
        FULT_REFUSED(fult_shared_qlock_timedlock, nullptr, -1);
        FULT_REFUSED(fult_shared_qlock_unlock, nullptr);
        FULT_REFUSED(fult_shared_qlock_lock_shared, nullptr);
        FULT_REFUSED(fult_shared_qlock_trylock_shared, nullptr);
        FULT_REFUSED(fult_shared_qlock_timedlock_shared, nullptr, 0);
        FULT_REFUSED(fult_shared_qlock_unlock_shared, nullptr);
        break;
    case 1: {
        const owned_in_c<fult_qlock_t> lock(fult_qlock_create, fult_qlock_destroy);
        const owned_in_c<fult_cond_t> changed(fult_cond_create, fult_cond_destroy);
        FULT_REFUSED(fult_cond_create, nullptr);
        FULT_REFUSED(fult_cond_destroy, nullptr);
        FULT_REFUSED(fult_cond_wait, nullptr, lock);
        FULT_REFUSED(fult_cond_wait, changed, nullptr);
        FULT_REFUSED(fult_cond_timedwait, nullptr, lock, 5);
        FULT_REFUSED(fult_cond_timedwait, changed, nullptr, 5);
        FULT_REFUSED(fult_cond_signal, nullptr);
        FULT_REFUSED(fult_cond_broadcast, nullptr);
        expect_in_c("fult_qlock_trylock", fult_qlock_trylock(lock));
        expect_in_c("fult_qlock_trylock", fult_qlock_trylock(lock), FULT_ERR_BUSY);
        expect_in_c("fult_cond_timedwait", fult_cond_timedwait(changed, lock, 0), FULT_ERR_TIMEOUT);
        expect_in_c("fult_qlock_unlock", fult_qlock_unlock(lock));
        break;
    }
    case 2: {
        fult_barrier_t meeting = nullptr;
        FULT_REFUSED(fult_barrier_create, nullptr, 1);
        refused_with_a_reason("fult_barrier_create", fult_barrier_create(&meeting, 0));
        refused_with_a_reason("fult_barrier_create",
                              fult_barrier_create(&meeting, std::numeric_limits<std::size_t>::max()));
        check(!meeting, "a refused barrier in C is stored");
        FULT_REFUSED(fult_barrier_destroy, nullptr);
        FULT_REFUSED(fult_barrier_wait, nullptr, nullptr);
        fult_sem_t sem = nullptr;
        FULT_REFUSED(fult_sem_create, nullptr, 1);
        refused_with_a_reason("fult_sem_create",
                              fult_sem_create(&sem, std::numeric_limits<std::size_t>::max()));
        check(!sem, "a refused semaphore in C is stored");
        FULT_REFUSED(fult_sem_destroy, nullptr);
        FULT_REFUSED(fult_sem_acquire, nullptr);
        FULT_REFUSED(fult_sem_tryacquire, nullptr);
        FULT_REFUSED(fult_sem_timedacquire, nullptr, 1);
        FULT_REFUSED(fult_sem_release, nullptr, 1);
        const owned_in_c<fult_sem_t> well(fult_sem_create, fult_sem_destroy, std::size_t{1});
        refused_with_a_reason("fult_sem_release",
                              fult_sem_release(well, std::numeric_limits<std::size_t>::max()));
        expect_in_c("fult_sem_tryacquire", fult_sem_tryacquire(well));
        expect_in_c("fult_sem_tryacquire", fult_sem_tryacquire(well), FULT_ERR_BUSY);
        break;
    }
    case 3: {
        fult_latch_t latch = nullptr;
        FULT_REFUSED(fult_latch_create, nullptr, 1);
        refused_with_a_reason("fult_latch_create",
                              fult_latch_create(&latch, std::numeric_limits<std::size_t>::max()));
        check(!latch, "a refused latch in C is stored");
        FULT_REFUSED(fult_latch_destroy, nullptr);
        FULT_REFUSED(fult_latch_count_down, nullptr, 1);
        FULT_REFUSED(fult_latch_wait, nullptr);
        FULT_REFUSED(fult_latch_timedwait, nullptr, 1);
        FULT_REFUSED(fult_event_create, nullptr);
        FULT_REFUSED(fult_event_destroy, nullptr);
        FULT_REFUSED(fult_event_set, nullptr);
        FULT_REFUSED(fult_event_reset, nullptr);
        FULT_REFUSED(fult_event_wait, nullptr);
        FULT_REFUSED(fult_event_timedwait, nullptr, 1);
        FULT_REFUSED(fult_once_create, nullptr);
        FULT_REFUSED(fult_once_destroy, nullptr);
        FULT_REFUSED(fult_once_call, nullptr, never_once, nullptr);
        const owned_in_c<fult_once_t> once(fult_once_create, fult_once_destroy);
        FULT_REFUSED(fult_once_call, once, nullptr, nullptr);
        unsigned calls = 0;
        const auto call = [](void *argument) { ++*static_cast<unsigned *>(argument); };
        expect_in_c("fult_once_call", fult_once_call(once, call, &calls));
        expect_in_c("fult_once_call", fult_once_call(once, never_once, &calls));
        check(calls == 1, "fult_once_call after a refusal: %u calls", calls);
        break;
    }
    default:
        FULT_REFUSED(fult_feb_create, nullptr);
        FULT_REFUSED(fult_feb_destroy, nullptr);
        FULT_REFUSED(fult_feb_readFF, nullptr, &word);
        FULT_REFUSED(fult_feb_readFE, nullptr, &word);
        FULT_REFUSED(fult_feb_writeEF, nullptr, 1);
        FULT_REFUSED(fult_feb_writeF, nullptr, 1);
        FULT_REFUSED(fult_feb_try_readFF, nullptr, &word);
        FULT_REFUSED(fult_feb_try_readFE, nullptr, &word);
        FULT_REFUSED(fult_feb_try_writeEF, nullptr, 1);
        FULT_REFUSED(fult_feb_fill, nullptr);
        FULT_REFUSED(fult_feb_purge, nullptr);
        check(fult_feb_is_full(nullptr) == 0 && word == 0, "no word in C is full");
        FULT_REFUSED(fult_channel_create, nullptr, 1);
        FULT_REFUSED(fult_channel_destroy, nullptr);
        FULT_REFUSED(fult_channel_send, nullptr, &a);
        FULT_REFUSED(fult_channel_trysend, nullptr, &a);
        FULT_REFUSED(fult_channel_timedsend, nullptr, &a, 1);
        FULT_REFUSED(fult_channel_receive, nullptr, &value);
        FULT_REFUSED(fult_channel_tryreceive, nullptr, &value);
        FULT_REFUSED(fult_channel_timedreceive, nullptr, &value, 1);
        FULT_REFUSED(fult_channel_close, nullptr);
        check(!value, "a refused receive stores a value");
    }
#undef FULT_REFUSED
}

void outside(actor &a) {
    void *result = &a;
    refused("fult_blocking", fult_blocking(nullptr, &a, &result));
    check(result == &a, "a refused blocking call stores a result");
    refused_with_a_reason("fult_wait_readable", fult_wait_readable(-1, 0));
    refused_with_a_reason("fult_wait_writable", fult_wait_writable(1 << 30, 0));

    check(fult_close_descriptor(-1) == -1, "a descriptor that is not open is closed");
}

// A second runtime, and what only a task may do.
void elsewhere(actor &a) {
    fult_config config = FULT_CONFIG_INIT;
    config.size = a.random.below(sizeof config + 1);
    expect_in_c("fult_init", fult_init(a.random.one_in(2) ? nullptr : &config), FULT_ERR_RUNNING);
    check(std::strstr(fult_last_error(), "fult_init") != nullptr, "fult_init is refused without a reason");
    check(std::strlen(fult_strerror(static_cast<int>(a.random.below(100)) - 50)) > 0,
          "a status without a text");
    check(std::strcmp(fult_version(), "") != 0, "a library without a version");
    if (a.is_task())
        return check(fult_self() != 0 && fult_worker() >= 0, "a task in C has no id or no worker");
    expect_in_c("fult_yield", fult_yield(), FULT_ERR_NOT_A_TASK);
    expect_in_c("fult_wait", fult_wait(), FULT_ERR_NOT_A_TASK);
    check(fult_self() == 0 && fult_worker() == -1, "a thread in C is a task");
}

// Memory is refused to the next allocation of this thread.
template <class Object>
void without_memory(const char *call, int (*create)(Object *), int (*destroy)(Object)) {
    Object it = nullptr;
    int status = FULT_SUCCESS;
    {
        const refused_allocation next;
        status = create(&it);
    }
    expect_in_c(call, status, FULT_ERR_NO_MEMORY);
    check(!it && *fult_last_error() != '\0', "%s stores what it has no memory for, or has no reason", call);
    expect_in_c(call, create(&it));
    expect_in_c(call, destroy(it));
}

void memory(actor &a) {
    switch (a.random.below(8)) {
    case 0:
        without_memory("fult_qlock_create", fult_qlock_create, fult_qlock_destroy);
        return without_memory("fult_shared_qlock_create", fult_shared_qlock_create,
                              fult_shared_qlock_destroy);
    case 1:
        return without_memory("fult_cond_create", fult_cond_create, fult_cond_destroy);
    case 2:
        return without_memory<fult_barrier_t>(
            "fult_barrier_create", [](fult_barrier_t *it) { return fult_barrier_create(it, 2); },
            fult_barrier_destroy);
    case 3:
        return without_memory<fult_sem_t>(
            "fult_sem_create", [](fult_sem_t *it) { return fult_sem_create(it, 2); }, fult_sem_destroy);
    case 4:
        return without_memory("fult_event_create", fult_event_create, fult_event_destroy);
    case 5:
        return without_memory("fult_once_create", fult_once_create, fult_once_destroy);
    case 6:
        return without_memory("fult_feb_create", fult_feb_create, fult_feb_destroy);
    default:
        without_memory<fult_channel_t>(
            "fult_channel_create", [](fult_channel_t *it) { return fult_channel_create(it, 3); },
            fult_channel_destroy);
        return without_memory("fult_group_create", fult_group_create, fult_group_destroy);
    }
}

void *answers(void *argument) { return argument; }

// What was refused has left nothing behind: a task in C still goes through all of this.
void works(actor &) {
    fult_task_t task = nullptr;
    int number = 0;
    void *result = nullptr;
    const int status = fult_spawn(&task, answers, &number);
    if (status == FULT_ERR_NO_MEMORY)
        return;
    expect_in_c("fult_spawn", status);
    expect_in_c("fult_join", fult_join(task, &result));
    check(result == &number, "a result in C is wrong after a refusal");
}

} // namespace

void c_refused(actor &a) {
    constexpr void (*all[])(actor &) = {spawns, joins, groups, keys, no_object, outside, elsewhere, memory};
    for (unsigned i = a.random.between(1, 3); i > 0; --i)
        all[a.random.below(std::size(all))](a);
    works(a);
}

} // namespace random_programs::perform
