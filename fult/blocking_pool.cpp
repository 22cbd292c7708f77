#include "blocking_pool.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <utility>

#include "check.hpp"
#include "locals.hpp"

namespace fult::detail {
namespace {

constexpr int idle_milliseconds = 10'000;

// What the process may use, read before a runtime binds its first thread: threads of the pool are started by
// workers, whose mask they must not keep.
struct allowed_processors {
    cpu_set_t set{};
    bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
};
const allowed_processors allowed_at_start;

} // namespace

void throw_no_thread(int error) {
    throw std::system_error(error, std::generic_category(),
                            "fult: no thread for a blocking call; raise `ulimit -u`");
}

// Who queues a job does so in the section that has seen a thread, running or being started: a thread that is
// started ends only when it sees no job, and who fails to start the last one refuses all that wait.
bool blocking_pool::submit(blocking_job &job) {
    job.next = nullptr;
    lock_.lock();
    seat *const free = give(job);
    const bool grows = !free && threads_.load(std::memory_order_relaxed) < limit_;
    if (grows)
        threads_.fetch_add(1, std::memory_order_relaxed);
    else if (!free)
        put_in_queue(job);
    lock_.unlock();
    if (free)
        free->sleep.post();
    return free || (grows && (start_thread(job) || submit_without(job, errno)));
}

// The thread that the job had reckoned with could not be started.
bool blocking_pool::submit_without(blocking_job &job, int error) {
    lock_.lock();
    if (threads_.fetch_sub(1, std::memory_order_relaxed) == 1) {
        blocking_job *refused = take_queue();
        lock_.unlock();
        while (refused) {
            blocking_job *next = refused->next; // a refused job is gone
            refused->refuse(*refused, error);
            refused = next;
        }
        throw_no_thread(error);
    }
    seat *const free = give(job); // one has become free meanwhile
    if (!free)
        put_in_queue(job);
    lock_.unlock();
    if (free)
        free->sleep.post();
    return free != nullptr;
}

bool blocking_pool::start_thread(blocking_job &first) noexcept {
    std::unique_ptr<beginning> begin(new (std::nothrow) beginning{this, &first});
    if (!begin) {
        errno = ENOMEM;
        return false;
    }
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t made;
    const int error = pthread_create(
        &made, &attributes, [](void *argument) { return thread_main(argument); }, begin.get());
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        errno = error;
        return false;
    }
    (void)begin.release(); // the thread's
    return true;
}

void *blocking_pool::thread_main(void *argument) noexcept {
    const std::unique_ptr<beginning> begin(static_cast<beginning *>(argument));
    ::pthread_setname_np(::pthread_self(), "fult-blocking");
    if (allowed_at_start.known)
        ::sched_setaffinity(0, sizeof allowed_at_start.set, &allowed_at_start.set);
    blocking_pool *pool = begin->pool;
    blocking_job *job = begin->job;
    pool->serve(job);
    return nullptr;
}

void blocking_pool::serve(blocking_job *first) noexcept {
    seat me;
    for (blocking_job *job = first; job; job = next_job(me)) { // after the last one the pool may be gone
        job->run(*job);
        end_locals_of_thread(); // the next call finds none, and no destructor runs after the runtime's end
    }
}

// Under the lock, as the next.
void blocking_pool::put_in_queue(blocking_job &job) noexcept {
    (last_ ? last_->next : first_) = &job;
    last_ = &job;
}

// All that wait for a thread.
blocking_job *blocking_pool::take_queue() noexcept {
    last_ = nullptr;
    reported_ = false;
    return std::exchange(first_, nullptr);
}

// Null: the thread ends.
blocking_job *blocking_pool::next_job(seat &me) noexcept {
    lock_.lock();
    if (blocking_job *job = first_) {
        first_ = job->next;
        if (!first_) {
            last_ = nullptr;
            reported_ = false;
        }
        lock_.unlock();
        return job;
    }
    if (!stopping_) {
        const std::uint32_t prepared = me.sleep.prepare();
        me.told = false;
        me.below = idle_;
        idle_ = &me;
        idle_count_.fetch_add(1, std::memory_order_release); // pairs with only_tasks_can_wake
        lock_.unlock();
        me.sleep.wait(prepared, idle_milliseconds);
        lock_.lock();
        if (blocking_job *job = std::exchange(me.job, nullptr)) {
            lock_.unlock();
            me.sleep.wait(prepared); // who gave the job posts, or has: the seat stays until then
            return job;
        }
        if (!me.told)
            leave(me);
    }
    threads_.fetch_sub(1, std::memory_order_relaxed);
    lock_.unlock();
    return nullptr;
}

void blocking_pool::leave(const seat &me) noexcept {
    seat **at = &idle_;
    while (*at != &me)
        at = &(*at)->below;
    *at = me.below;
    idle_count_.fetch_sub(1, std::memory_order_relaxed);
}

// To an idle thread, if there is one; its seat, to be posted. Under the lock.
blocking_pool::seat *blocking_pool::give(blocking_job &job) noexcept {
    seat *free = idle_;
    if (free) {
        idle_ = free->below;
        idle_count_.fetch_sub(1, std::memory_order_relaxed);
        free->job = &job;
    }
    return free;
}

void blocking_pool::stop() noexcept {
    lock_.lock();
    stopping_ = true;
    for (seat *s = idle_; s;) {
        seat *below = s->below;
        s->told = true;
        s->sleep.post(); // under the lock: the seat stays until it is released
        s = below;
        idle_count_.fetch_sub(1, std::memory_order_relaxed);
    }
    idle_ = nullptr;
    while (threads_.load(std::memory_order_relaxed) != 0) {
        lock_.unlock();
        ::sched_yield();
        lock_.lock();
    }
    stopping_ = false;
    lock_.unlock();
}

bool blocking_pool::busy() noexcept {
    const std::lock_guard guard(lock_);
    return threads_.load(std::memory_order_relaxed) != idle_count_.load(std::memory_order_relaxed);
}

void blocking_pool::report_if_waiting(const blocking_job &job) noexcept {
    unsigned waiting = 0;
    bool found = false;
    {
        const std::lock_guard guard(lock_);
        for (const blocking_job *each = first_; each; each = each->next) {
            found = found || each == &job;
            ++waiting;
        }
        found = found && !reported_;
        reported_ = reported_ || found;
    }
    if (found)
        warn("all %u threads for blocking calls have been blocked for long, and %u calls wait for one; raise "
             "FULT_BLOCKING_THREADS, or wait for descriptors by wait_readable",
             limit_, waiting);
}

} // namespace fult::detail
