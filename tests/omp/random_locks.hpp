// Random OpenMP tasks that hold a mutex of the system, and OpenMP's locks. The mutex comes before a lock, and
// what an owner of either waits for asks for none of them: no order of these tasks is a deadlock.
#pragma once

#include <atomic>
#include <cstdint>
#include <omp.h>
#include <pthread.h>

#include "random_checks.hpp"

// A thread that asks for it while it has it is reported.
class checked_mutex {
  public:
    explicit checked_mutex(std::uint64_t seed) : seed_(seed) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    ~checked_mutex() { pthread_mutex_destroy(&mutex_); }
    bool lock() {
        const bool locked = pthread_mutex_lock(&mutex_) == 0;
        expect(locked, "a thread asks for the mutex that it has", seed_);
        return locked;
    }
    void unlock() { expect(pthread_mutex_unlock(&mutex_) == 0, "another thread unlocks the mutex", seed_); }
    checked_mutex(const checked_mutex &) = delete;
    checked_mutex &operator=(const checked_mutex &) = delete;

  private:
    pthread_mutex_t mutex_;
    std::uint64_t seed_;
};

class holding {
  public:
    explicit holding(const program &p) : mutex_(p.mutex && p.mutex->lock() ? p.mutex : nullptr) {}
    ~holding() {
        if (mutex_)
            mutex_->unlock();
    }
    holding(const holding &) = delete;
    holding &operator=(const holding &) = delete;

  private:
    checked_mutex *mutex_;
};

// The locks of a program.
class contended {
  public:
    static constexpr unsigned ways = 5;
    contended() {
        omp_init_lock(&lock_);
        omp_init_nest_lock(&nest_lock_);
    }
    ~contended() {
        omp_destroy_lock(&lock_);
        omp_destroy_nest_lock(&nest_lock_);
    }
    contended(const contended &) = delete;
    contended &operator=(const contended &) = delete;

    template <class Body> void enter(unsigned way, Body body) {
        switch (way) {
        case 0:
#pragma omp critical(random)
            body(owners_of_critical_);
            break;
        case 1:
        case 2:
            if (way == 1)
                omp_set_lock(&lock_);
            else
                poll([&] { return omp_test_lock(&lock_) != 0; });
            body(owners_[0]);
            omp_unset_lock(&lock_);
            break;
        default:
            if (way == 3)
                omp_set_nest_lock(&nest_lock_);
            else
                poll([&] { return omp_test_nest_lock(&nest_lock_) != 0; });
            omp_set_nest_lock(&nest_lock_);
            body(owners_[1]);
            omp_unset_nest_lock(&nest_lock_);
            omp_unset_nest_lock(&nest_lock_);
        }
    }

  private:
    template <class Test> static void poll(Test test) {
        while (!test()) {
#pragma omp taskyield
        }
    }
    omp_lock_t lock_;
    omp_nest_lock_t nest_lock_;
    int owners_[2] = {0, 0}; // of each lock, changed by its owner
    static inline int owners_of_critical_ = 0;
};

// In a lock: some work, or a task to wait for.
inline void in_lock(const program &p, draw d, int &owners) {
    expect(++owners == 1, "a lock has two owners", p.seed);
    if (d.one_in(8)) {
        int ran = 0;
#pragma omp task shared(ran)
        ran = 1;
#pragma omp taskwait
        expect(ran == 1, "taskwait of the owner of a lock", p.seed);
    } else {
        const unsigned n = d.below(400);
        for (std::atomic<unsigned> i{0}; i < n; ++i)
            ;
    }
    --owners;
}

inline void contend(const program &p, draw d) {
    const unsigned way = d.below(contended::ways);
    const auto inside = [&](int &owners) { in_lock(p, d, owners); };
    if (d.one_in(2)) {
        const holding hold(p);
        p.locks->enter(way, inside);
    } else {
        p.locks->enter(way, inside);
    }
}

// A tied task generates others that contend for locks, some with the mutex, which it locks in between.
inline void generate_contenders(const program &p, draw d, const constraining *me,
                                std::atomic<unsigned> &ended) {
    const program *const q = &p;
    std::atomic<unsigned> *const to = &ended;
    const bool between = d.one_in(2), yields = d.one_in(3);
    for (unsigned n = d.below(12) + 1; n != 0; --n) {
        const std::uint64_t s = d.next();
#pragma omp task firstprivate(q, me, s, to)
        {
            const constraining here(*q, me, constraining::tied);
            contend(*q, draw{s});
            ++*to;
        }
        if (yields) {
#pragma omp taskyield
        }
        if (between)
            const holding hold(p);
    }
#pragma omp taskwait
    const holding hold(p);
}

inline void with_locks(const program &p, draw d, const constraining *me) {
    if (omp_in_final())
        return;
    draw look = d;
    look.next();
    look.next();
    const unsigned n = look.below(12) + 1;
    const program *const q = &p;
    std::atomic<unsigned> ended{0};
#pragma omp taskgroup
#pragma omp task firstprivate(q, me, d) shared(ended)
    {
        const constraining here(*q, me, constraining::tied);
        generate_contenders(*q, d, &here, ended);
    }
    expect(ended == n, "tasks that contend for locks", p.seed);
}

// A tied task that holds a mutex of the system while it waits for its children, which do not ask for it.
inline void with_mutex(const program &p, draw d, const constraining *me) {
    if (omp_in_final())
        return;
    const unsigned n = d.below(6), how = d.below(p.nested ? 6 : 5);
    const program *const q = &p;
#pragma omp taskgroup
#pragma omp task firstprivate(n, how, q, me)
    {
        const constraining here(*q, me, constraining::tied);
        const holding hold(*q);
        std::atomic<unsigned> ended{0};
        [[maybe_unused]] int x = 0;
        switch (how) {
        case 0:
            for (unsigned i = 0; i < n; ++i) {
#pragma omp task shared(ended)
                ++ended;
            }
#pragma omp taskwait
            break;
        case 1:
#pragma omp taskgroup
            for (unsigned i = 0; i < n; ++i) {
#pragma omp task shared(ended)
                {
#pragma omp taskyield
                    ++ended;
                }
            }
            break;
        case 2:
#pragma omp taskloop grainsize(1) shared(ended)
            for (unsigned i = 0; i < n; ++i)
                ++ended;
            break;
        case 3:
            for (unsigned i = 0; i < n; ++i) {
#pragma omp taskyield
                ++ended;
            }
            break;
        case 4:
            for (unsigned i = 0; i < n; ++i) {
#pragma omp task shared(ended) depend(inout : x)
                ++ended;
            }
#pragma omp task depend(in : x) if (0)
            {}
            break;
        default:
#pragma omp parallel num_threads(2) shared(ended)
        {
#pragma omp for
            for (unsigned i = 0; i < n; ++i)
                ++ended;
        }
        }
        expect(ended == n, "children of a task that holds a mutex", q->seed);
    }
}
