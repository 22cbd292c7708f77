#include "locks.hpp"

#include <atomic>

#include <fult/detail/assertion.hpp>
#include <fult/detail/platform.hpp>

#include "fult/base/spin_lock.hpp"
#include "omp_task.hpp"
#include "wait.hpp"

namespace fult::omp {
namespace {

// A lock word is 0: free, 1: taken, 2: taken, and another may wait. Waiters are in a table by the lock's
// address.
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

// Queues the caller, unless the lock is free meanwhile, and waits to be woken.
void wait_for(simple_lock *l) {
    bucket &b = bucket_of(l);
    waiter me{.lock = l};
    b.lock.lock();
    std::uint32_t seen = word(l).load(std::memory_order_relaxed);
    FULT_ASSERT(seen <= 2);
    do
        if (seen == 0) {
            b.lock.unlock();
            return;
        }
    while (seen != 2 && !word(l).compare_exchange_weak(seen, 2, std::memory_order_relaxed));
    FULT_ASSERT(!*b.end, "the list ends where the next waiter comes");
    *b.end = &me;
    b.end = &me.next;
    b.lock.unlock();
    static constexpr detail::waiting_for what{"OpenMP lock"};
    await(me.release, what);
}

} // namespace

void lock_init(simple_lock *l) noexcept { l->word = 0; }

bool lock_test(simple_lock *l) noexcept {
    std::uint32_t free = 0;
    return word(l).compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed);
}

void lock_set(simple_lock *l) {
    for (unsigned i = 0; i < 32; ++i) {
        if (lock_test(l))
            return;
        detail::cpu_relax();
    }
    // A woken waiter takes the lock with the mark of waiters: it does not know whether there are others.
    while (word(l).exchange(2, std::memory_order_acquire) != 0)
        wait_for(l);
}

void lock_unset(simple_lock *l) {
    const std::uint32_t before = word(l).exchange(0, std::memory_order_seq_cst);
    FULT_ASSERT(before == 1 || before == 2, "a lock that is released was taken");
    if (before != 2)
        return;
    bucket &b = bucket_of(l);
    b.lock.lock();
    waiter **at = &b.first;
    while (*at && (*at)->lock != l)
        at = &(*at)->next;
    waiter *const found = *at;
    if (found) {
        *at = found->next;
        if (!*at)
            b.end = at;
    }
    b.lock.unlock();
    if (found)
        found->release.end_one();
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
