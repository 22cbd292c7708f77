// The interface in C, beside that in C++.
#include <memory>

#include <fult/fult.h>
#include <fult/sync.h>

#include "acts.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// What a task in C gets, and gives back when it has run.
struct c_call {
    program *in;
    ledger::ticket ticket;
    unsigned pauses;
    bool fails;
};

void *called(void *argument) {
    const auto *call = static_cast<c_call *>(argument);
    call->in->tasks.runs(call->ticket);
    for (unsigned i = 0; i < call->pauses; ++i)
        check(fult_yield() == FULT_SUCCESS, "fult_yield fails in a task");
    return argument;
}

void *called_in_group(void *argument) {
    return static_cast<c_call *>(called(argument))->fails ? argument : nullptr;
}

} // namespace

void c_tasks(actor &a) {
    const unsigned count = std::min(a.random.between(1, 10), a.in.how.most_tasks_at_a_time);
    std::vector<c_call> calls(count);
    std::vector<fult_task_t> tasks(count, nullptr);
    for (unsigned i = 0; i < count; ++i) {
        calls[i] = {&a.in, a.in.tasks.issue(), a.random.below(4), false};
        fult_spawn_attr attributes = FULT_SPAWN_ATTR_INIT;
        attributes.name = "in C";
        attributes.worker = static_cast<int>(a.random.below(fult_worker_count()));
        attributes.pinned = a.random.one_in(2);
        const int status = a.random.one_in(2) ? fult_spawn(&tasks[i], called, &calls[i])
                                              : fult_spawn_with(&tasks[i], called, &calls[i], &attributes);
        check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY, "fult_spawn: %d", status);
        if (status != FULT_SUCCESS) {
            a.in.tasks.cancel(calls[i].ticket);
            tasks.resize(i);
            break;
        }
    }
    const std::size_t spawned = tasks.size();
    if (spawned == 0)
        return;
    if (a.random.one_in(3)) {
        std::size_t first = spawned;
        if (fult_wait_any(tasks.data(), spawned, &first) == FULT_SUCCESS)
            check(first < spawned, "fult_wait_any has found none");
    }
    std::vector<void *> results(spawned, nullptr);
    if (a.random.one_in(2))
        check(fult_join_all(tasks.data(), spawned, results.data()) == FULT_SUCCESS, "fult_join_all fails");
    else
        for (std::size_t i = 0; i < spawned; ++i)
            check(fult_join(tasks[i], &results[i]) == FULT_SUCCESS, "fult_join fails");
    for (std::size_t i = 0; i < spawned; ++i)
        check(results[i] == &calls[i], "a result in C is wrong");
}

void c_group(actor &a) {
    fult_group_t group = nullptr;
    check(fult_group_create(&group) == FULT_SUCCESS, "fult_group_create fails");
    const unsigned count = std::min(a.random.between(1, 10), a.in.how.most_tasks_at_a_time);
    std::vector<c_call> calls(count);
    const bool fails = a.random.one_in(3);
    bool failing = false;
    for (unsigned i = 0; i < count; ++i) {
        calls[i] = {&a.in, a.in.tasks.issue(fails), a.random.below(3), fails && i == count / 2};
        if (fult_group_spawn(group, called_in_group, &calls[i]) == FULT_SUCCESS)
            failing |= calls[i].fails;
        else
            a.in.tasks.cancel(calls[i].ticket);
    }
    void *failure = nullptr;
    check(fult_group_wait(group, &failure) == FULT_SUCCESS, "fult_group_wait fails");
    check(failure == (failing ? &calls[count / 2] : nullptr), "a group in C has a wrong failure");
    check(fult_group_stop_requested(group) == 0, "a group in C is stopped after its wait");
    check(fult_group_destroy(group) == FULT_SUCCESS, "fult_group_destroy fails");
}

// A channel, a semaphore and a lock in C between tasks in C++.
void c_objects(actor &a) {
    fult_channel_t line = nullptr;
    fult_sem_t permits = nullptr;
    fult_qlock_t guard = nullptr;
    check(fult_channel_create(&line, a.random.below(3)) == FULT_SUCCESS &&
              fult_sem_create(&permits, 2) == FULT_SUCCESS && fult_qlock_create(&guard) == FULT_SUCCESS,
          "objects in C cannot be made");
    unsigned count = 0; // the lock's
    int target = 0;
    actor_group senders(a, a.random.between(1, 4), [&](actor &self, unsigned) {
        check(fult_sem_acquire(permits) == FULT_SUCCESS, "fult_sem_acquire fails");
        // time: either order is right
        while (fult_qlock_timedlock(guard, self.random.below(2000)) != FULT_SUCCESS)
            self.pause();
        ++count;
        check(fult_qlock_unlock(guard) == FULT_SUCCESS, "fult_qlock_unlock fails");
        check(fult_sem_release(permits, 1) == FULT_SUCCESS, "fult_sem_release fails");
        int status = FULT_ERR_TIMEOUT;
        while (status == FULT_ERR_TIMEOUT)
            status = self.random.one_in(2) ? fult_channel_send(line, &target)
                                           // time: either order is right
                                           : fult_channel_timedsend(line, &target, self.random.below(2000));
        check(status == FULT_SUCCESS, "fult_channel_send: %d", status);
    });
    senders.open();
    for (unsigned got = 0; got < senders.size();) {
        void *value = nullptr;
        // time: either order is right
        const int status = fult_channel_timedreceive(line, &value, a.random.one_in(2) ? -1 : 1000);
        check(status == FULT_ERR_TIMEOUT || (status == FULT_SUCCESS && value == &target),
              "fult_channel_timedreceive: %d", status);
        got += status == FULT_SUCCESS ? 1 : 0;
    }
    const unsigned size = senders.size();
    senders.join();
    check(count == size, "a lock in C let %u of %u in", count, size);
    check(fult_channel_close(line) == FULT_SUCCESS && fult_channel_send(line, &target) == FULT_ERR_CLOSED,
          "a closed channel in C takes something");
    fult_channel_destroy(line);
    fult_sem_destroy(permits);
    fult_qlock_destroy(guard);
}

} // namespace random_programs::perform
