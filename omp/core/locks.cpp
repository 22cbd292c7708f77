#include "locks.hpp"

#include <atomic>
#include <sched.h>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "fult/base/spin_lock.hpp"
#include "join_gate.hpp"
#include "omp_task.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

// A lock word is 0 when the lock is free and none waits. Waiters are in a table by the lock's address. A
// thread that releases wakes one, which competes with those that come: a lock that is free is never kept for
// a task whose thread must be scheduled first. Until that one has the lock, or waits again, others that
// release wake none, but for each `most_passes`th: its worker may be busy. Model: tests/model/omp_lock.pml.
enum : std::uint32_t {
    held = 1,
    queued = 2, // there are waiters in the table
    pass = 4,   // times the number of releases since one was woken; 0: none is awake
    most_passes = 64,
    passes = 0xfffc,
    owner_mark = 0xffff0000 // while it is held: the mark of the owner's thread
};

// Of the calling thread. Two threads may have the same one; foreign threads do.
FULT_ALWAYS_INLINE std::uint32_t mark_here() noexcept {
    const std::uint64_t at = reinterpret_cast<std::uintptr_t>(detail::current_worker());
    return static_cast<std::uint32_t>(at * 0x9e3779b97f4a7c15u >> 32) & owner_mark;
}
// A task that polls for a lock, or waits, lets the one that yields below it go on if that may hold the lock.
bool may_be_ours(std::uint32_t seen) noexcept {
    return (seen & held) != 0 && (seen & owner_mark) == mark_here();
}
struct waiter {
    const simple_lock *lock;
    detail::completion release{1};
    waiter *next = nullptr;
};

struct alignas(64) bucket {
    detail::spin_lock lock;
    waiter *first = nullptr;
    waiter **end = &first;
};
constexpr std::size_t buckets = 256;
bucket table[buckets];
static_assert(buckets == std::size_t{1} << (64 - 56), "a hash of 64 bits is shifted by 56");

bucket &bucket_of(const simple_lock *l) noexcept {
    return table[(reinterpret_cast<std::uintptr_t>(l) >> 2) * 0x9e3779b97f4a7c15u >> 56];
}

std::atomic_ref<std::uint32_t> word(simple_lock *l) noexcept {
    return std::atomic_ref<std::uint32_t>(l->word);
}

// Takes the lock if it is free. A waiter that was woken says that it no longer is on its way.
bool take(simple_lock *l, bool was_woken) noexcept {
    std::uint32_t seen = word(l).load(std::memory_order_relaxed);
    while ((seen & held) == 0)
        if (word(l).compare_exchange_weak(seen, (was_woken ? seen & ~passes : seen) | held | mark_here(),
                                          std::memory_order_acquire, // pairs with lock_unset
                                          std::memory_order_relaxed))
            return true;
    return false;
}

// A wait that is shorter than to suspend and to be woken. Where threads share processors, the owner may wait
// for this one.
bool take_soon(simple_lock *l, bool was_woken) noexcept {
    constexpr unsigned looks = 32, yields = 4;
    for (unsigned i = 0; i < looks; ++i) {
        if (take(l, was_woken))
            return true;
        detail::cpu_relax();
    }
    if (!join_gate::has_little_patience())
        return false;
    for (unsigned i = 0; i < yields; ++i) {
        if (detail::running_task() && detail::others_ready())
            return false;
        ::sched_yield();
        if (take(l, was_woken))
            return true;
    }
    return false;
}

// Queues the caller, unless the lock is free meanwhile, and waits to be woken. Returns whether it was.
bool wait_for(simple_lock *l, bool was_woken) {
    bucket &b = bucket_of(l);
    waiter me{.lock = l};
    b.lock.lock();
    std::uint32_t seen = word(l).load(std::memory_order_relaxed), next = 0;
    do {
        if ((seen & held) == 0) {
            b.lock.unlock();
            return was_woken;
        }
        next = (was_woken ? seen & ~passes : seen) | queued; // without passes the owner wakes one
    } while (next != seen && !word(l).compare_exchange_weak(seen, next, std::memory_order_relaxed));
    FULT_ASSERT(!*b.end, "the list ends where the next waiter comes");
    if (was_woken) {
        me.next = b.first;
        if (!b.first)
            b.end = &me.next;
        b.first = &me;
    } else {
        *b.end = &me;
        b.end = &me.next;
    }
    b.lock.unlock();
    static constexpr detail::waiting_for what{"OpenMP lock"};
    const omp_wait here(begins::nothing, may_be_ours(next) ? until::unlocked : until::done);
    await(me.release, what);
    return true;
}

waiter **first_of(waiter **from, const simple_lock *l) noexcept {
    while (*from && (*from)->lock != l)
        from = &(*from)->next;
    return from;
}

// After a release. If no waiter is left, another thread has woken the last, and the lock may be gone. Until
// the one that is found here is woken, it is not.
void wake_one(simple_lock *l) noexcept {
    bucket &b = bucket_of(l);
    b.lock.lock();
    waiter **const at = first_of(&b.first, l);
    waiter *const found = *at;
    if (found) {
        *at = found->next;
        if (!*at)
            b.end = at;
        if (!*first_of(at, l))
            word(l).fetch_and(~std::uint32_t{queued}, std::memory_order_relaxed);
    }
    b.lock.unlock();
    if (found)
        found->release.end_one();
}

FULT_NOINLINE void set_slowly(simple_lock *l) {
    for (bool was_woken = false; !take_soon(l, was_woken);)
        was_woken = wait_for(l, was_woken);
}

FULT_NOINLINE void unset_slowly(simple_lock *l, std::uint32_t seen) noexcept {
    bool wakes = false;
    std::uint32_t next = 0;
    do {
        FULT_ASSERT((seen & held) != 0, "a lock that is released was taken");
        const std::uint32_t before = seen & passes;
        wakes = (seen & queued) != 0 && (before == 0 || before == most_passes * pass);
        next = (seen & queued) == 0 ? 0 : queued | (wakes ? std::uint32_t{pass} : before + pass); // no owner
    } while (!word(l).compare_exchange_weak(seen, next, std::memory_order_release, // pairs with take
                                            std::memory_order_relaxed));
    if (wakes)
        wake_one(l);
}

} // namespace

void lock_init(simple_lock *l) noexcept { l->word = 0; }

namespace {
// Returns 0 if the lock was free and is taken, or its word.
FULT_ALWAYS_INLINE std::uint32_t try_take(simple_lock *l) noexcept {
    std::uint32_t seen = 0;
    word(l).compare_exchange_strong(seen, held | mark_here(),
                                    std::memory_order_acquire, // pairs with lock_unset
                                    std::memory_order_relaxed);
    return seen;
}
FULT_NOINLINE bool test_slowly(simple_lock *l, std::uint32_t seen) noexcept {
    if ((seen & held) == 0 && take(l, false))
        return true;
    using tried = thread_constraints::lock_tried;
    if (const omp_task *const me = task_on_worker())
        me->at->constraints.tried = may_be_ours(seen) ? tried::own : tried::of_another;
    return false;
}
} // namespace

bool lock_test(simple_lock *l) noexcept {
    const std::uint32_t seen = try_take(l);
    return seen == 0 || test_slowly(l, seen);
}

void lock_set(simple_lock *l) {
    if (const std::uint32_t seen = try_take(l); seen != 0) [[unlikely]]
        set_slowly(l);
}

void lock_unset(simple_lock *l) {
    std::uint32_t seen = held | mark_here();
    if (!word(l).compare_exchange_strong(seen, 0, std::memory_order_release, // pairs with take
                                         std::memory_order_relaxed)) [[unlikely]]
        unset_slowly(l, seen);
}

void nested_init(nested_lock *l) noexcept {
    lock_init(&l->lock);
    l->count = 0;
    l->owner = nullptr;
}

namespace {
std::atomic_ref<const omp_task *> owner(nested_lock *l) noexcept {
    return std::atomic_ref<const omp_task *>(l->owner);
}

// The owner counts; others take the lock first, if take(lock) does.
template <class Take> int nested_enter(nested_lock *l, const Take &take) {
    const omp_task *const me = current_task();
    if (owner(l).load(std::memory_order_relaxed) != me) {
        if (!take(&l->lock))
            return 0;
        FULT_ASSERT(l->count == 0,
                    "a lock is passed on when its owner has released it as often as it took it");
        owner(l).store(me, std::memory_order_relaxed);
    }
    return ++l->count;
}
} // namespace

int nested_set(nested_lock *l) {
    return nested_enter(l, [](simple_lock *lock) {
        lock_set(lock);
        return true;
    });
}

int nested_test(nested_lock *l) { return nested_enter(l, lock_test); }

void nested_unset(nested_lock *l) {
    FULT_ASSERT(l->count > 0 && owner(l).load(std::memory_order_relaxed), "its owner releases it");
    if (--l->count != 0)
        return;
    owner(l).store(nullptr, std::memory_order_relaxed);
    lock_unset(&l->lock);
}

} // namespace fult::omp
