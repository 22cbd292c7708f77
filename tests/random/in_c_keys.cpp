// Keys, detached tasks, signals, trim and reports by fult.h.
#include <atomic>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

#include <fult/fult.h>

#include "acts.hpp"
#include "in_c_waits.hpp"
#include "spawning.hpp"

namespace random_programs::perform {
namespace {

// A value of a key: what it belongs to, and whether its end sets it once more.
struct c_value {
    std::atomic<int> *living;
    fult_key_t key;
    unsigned again;
};

void end_of_value(void *argument) {
    auto *const value = static_cast<c_value *>(argument);
    if (value->again > 0) {
        --value->again;
        const int status = fult_setspecific(value->key, value);
        check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY, "fult_setspecific at an end: %d",
              status);
        if (status == FULT_SUCCESS)
            return;
    }
    if (fult_self() != 0)
        expect_in_c("fult_yield", fult_yield()); // it may suspend
    value->living->fetch_sub(1);
    delete value;
}

} // namespace

// Values of tasks and threads: each sees its own, and each value ends once.
void c_keys(actor &a) {
    fult_key_t key = 0, plain = 0;
    const int made = fult_key_create(&key, end_of_value);
    expect_in_c("fult_key_create", made);
    expect_in_c("fult_key_create", fult_key_create(&plain, nullptr));
    std::atomic<int> living{0}, set{0};
    actor_group all(a, a.random.between(1, 8), [&](actor &self, unsigned number) {
        check(!fult_getspecific(key) && !fult_getspecific(plain), "a task in C begins with another's value");
        auto value = std::make_unique<c_value>(c_value{&living, key, self.random.below(3)});
        if (self.random.one_in(5))
            return;
        int status = fult_setspecific(key, value.get());
        check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY, "fult_setspecific: %d", status);
        if (status != FULT_SUCCESS)
            return;
        void *const mine = value.release();
        living.fetch_add(1);
        set.fetch_add(1);
        expect_in_c("fult_setspecific", fult_setspecific(plain, &number));
        for (unsigned i = self.random.below(4); i > 0; --i)
            self.pause();
        check(fult_getspecific(key) == mine && fult_getspecific(plain) == &number,
              "a value in C is another's");
        expect_in_c("fult_setspecific", fult_setspecific(plain, nullptr));
        if (self.random.one_in(4)) { // taken back: it does not end by itself
            expect_in_c("fult_setspecific", fult_setspecific(key, nullptr));
            living.fetch_sub(1);
            delete static_cast<c_value *>(mine);
        }
    });
    all.join();
    // A task's values end before it can be joined; those of a thread before the thread is.
    check(living.load() == 0, "%d of %d values in C have not ended", living.load(), set.load());
    expect_in_c("fult_key_delete", fult_key_delete(key));
    expect_in_c("fult_key_delete", fult_key_delete(key), FULT_ERR_INVALID);
    expect_in_c("fult_setspecific", fult_setspecific(key, &a), FULT_ERR_INVALID);
    check(!fult_getspecific(key), "a deleted key has a value");
    expect_in_c("fult_key_delete", fult_key_delete(plain));
}

namespace {

// What a detached task in C gets; it frees it.
struct c_life {
    program *in;
    ledger::ticket ticket;
    std::uint64_t seed;
    unsigned budget;
};

void *lives(void *argument) {
    const std::unique_ptr<c_life> life(static_cast<c_life *>(argument));
    life->in->tasks.runs(life->ticket);
    actor self{*life->in, draw(life->seed), life->budget};
    act(self);
    return nullptr;
}

// A task that waits for its signal.
struct c_waiter {
    std::atomic<fult_task_id_t> id{0};
    std::atomic<bool> go{false};
    program *in;
    ledger::ticket ticket;
};
void *waits_in_c(void *argument) {
    auto *const what = static_cast<c_waiter *>(argument);
    what->in->tasks.runs(what->ticket);
    check(fult_self() != 0 && fult_worker() >= 0, "a task in C has no id or no worker");
    what->id.store(fult_self());
    while (!what->go.load())
        expect_in_c("fult_wait", fult_wait());
    return argument;
}

} // namespace

// Detached at the spawn, or later; with acts of its own.
void c_detached(actor &a) {
    auto life = std::make_unique<c_life>(c_life{&a.in, a.in.tasks.issue(), a.random.next(), a.share(1)});
    fult_task_t task = nullptr;
    const bool at_once = a.random.one_in(2);
    fult_spawn_attr attributes = FULT_SPAWN_ATTR_INIT;
    attributes.stack_size = a.random.one_in(2) ? drawn_options::smallest_stack + a.random.below(100'000) : 0;
    attributes.name = "detached in C";
    const int status = a.random.one_in(2)
                           ? fult_spawn(at_once ? nullptr : &task, lives, life.get())
                           : fult_spawn_with(at_once ? nullptr : &task, lives, life.get(), &attributes);
    check(status == FULT_SUCCESS || status == FULT_ERR_NO_MEMORY, "fult_spawn: %d", status);
    if (status != FULT_SUCCESS)
        return a.in.tasks.cancel(life->ticket);
    (void)life.release();
    if (at_once)
        return check(!task, "fult_spawn stores a handle without a place");
    if (a.random.one_in(3))
        a.pause();
    expect_in_c("fult_detach", fult_detach(task));
}

void c_signal(actor &a) {
    c_waiter what{.id = 0, .go = false, .in = &a.in, .ticket = a.in.tasks.issue()};
    fult_task_t task = nullptr;
    if (const int status = fult_spawn(&task, waits_in_c, &what); status != FULT_SUCCESS) {
        check(status == FULT_ERR_NO_MEMORY, "fult_spawn: %d", status);
        return a.in.tasks.cancel(what.ticket);
    }
    const fult_task_id_t id = fult_task_id(task);
    check(id != 0, "a task in C has no id");
    if (a.random.one_in(2))
        while (what.id.load() == 0)
            a.pause();
    for (unsigned i = a.random.below(3); i > 0; --i)
        fult_signal(id); // without effect
    what.go.store(true);
    fult_signal(id);
    void *result = nullptr;
    expect_in_c("fult_join", fult_join(task, &result));
    check(result == &what && what.id.load() == id, "a task in C has another id, or result");
}

void c_trim_and_dump(actor &a) {
    for (unsigned i = a.random.between(1, 4); i > 0; --i) {
        expect_in_c("fult_trim", fult_trim());
        if (a.random.one_in(2))
            a.pause();
    }
    if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
        expect_in_c("fult_dump_tasks", fult_dump_tasks(nowhere));
        ::close(nowhere);
    }
}

} // namespace random_programs::perform
