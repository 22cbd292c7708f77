#include "blocking_pool.hpp"

#include <cerrno>
#include <mutex>
#include <new>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <utility>

#include <fult/detail/assertion.hpp>

#include "fult/base/check.hpp"
#include "fult/base/start_affinity.hpp"
#include "fult/kernel/locals.hpp"

namespace fult::detail {

void throw_no_thread(int error) {
    throw std::system_error(error, std::generic_category(),
                            "fult: no thread for a blocking call; raise `ulimit -u`");
}

// A request is queued in the same critical section that has seen a thread, running or being started. A
// started thread ends only if it sees no request. If the last thread cannot be started, all queued requests
// are refused.
bool blocking_pool::submit(blocking_request &request) {
    request.next = nullptr;
    {
        const std::lock_guard guard(lock_);
        if (idle_ || threads_.load(std::memory_order_relaxed) >= limit_)
            return assign_or_queue(request);
        threads_.fetch_add(1, std::memory_order_relaxed);
    }
    return start_thread(request) || handle_failed_start(request, errno);
}

// The thread that was to serve the request could not be started.
bool blocking_pool::handle_failed_start(blocking_request &request, int error) {
    blocking_request *refused = nullptr;
    {
        const std::lock_guard guard(lock_);
        if (threads_.fetch_sub(1, std::memory_order_relaxed) != 1)
            return assign_or_queue(request); // a thread may have become idle in the meantime
        refused = take_queue();
    }
    while (refused) {
        blocking_request *next = refused->next; // a refused request is destroyed
        refused->refuse(*refused, error);
        refused = next;
    }
    throw_no_thread(error);
}

bool blocking_pool::start_thread(blocking_request &first) noexcept {
    try {
        std::thread(&blocking_pool::serve, this, &first).detach();
        return true;
    } catch (const std::system_error &error) {
        errno = error.code().value();
    } catch (const std::bad_alloc &) {
        errno = ENOMEM;
    }
    return false;
}

void blocking_pool::serve(blocking_request *first) noexcept {
    ::pthread_setname_np(::pthread_self(), "fult-blocking");
    run_on_processors_at_start();
    idle_thread me;
    for (blocking_request *request = first; request;
         request = next_request(me)) { // the pool may be destroyed after the last one
        FULT_ASSERT(request->run && request->finish && request->refuse);
        request->run(*request);
        end_locals_of_thread(); // first: the caller may rely on their end, and the next call finds none
        request->finish(*request);
    }
}

// Passes the request to an idle thread; queues it if there is none, and returns false. Called under the lock.
bool blocking_pool::assign_or_queue(blocking_request &request) noexcept {
    FULT_ASSERT(lock_.is_held() && !request.next);
    FULT_ASSERT((first_ == nullptr) == (last_ == nullptr));
    if (idle_thread *const free = idle_) {
        idle_ = free->next_idle;
        idle_count_.fetch_sub(1, std::memory_order_relaxed);
        free->request = &request;
        free->sleep.post(); // under the lock: the idle_thread exists until the lock is released
        return true;
    }
    (last_ ? last_->next : first_) = &request;
    last_ = &request;
    return false;
}

// Takes all queued requests. Called under the lock.
blocking_request *blocking_pool::take_queue() noexcept {
    FULT_ASSERT(lock_.is_held());
    last_ = nullptr;
    reported_ = false;
    return std::exchange(first_, nullptr);
}

// Returns nullptr if the thread must end.
blocking_request *blocking_pool::next_request(idle_thread &me) noexcept {
    lock_.lock();
    if (blocking_request *request = first_) {
        first_ = request->next;
        if (!first_) {
            last_ = nullptr;
            reported_ = false;
        }
        lock_.unlock();
        return request;
    }
    if (!stopping_) {
        const std::uint32_t prepared = me.sleep.prepare();
        me.end_requested = false;
        me.next_idle = idle_;
        idle_ = &me;
        idle_count_.fetch_add(1, std::memory_order_release); // pairs with only_tasks_can_wake
        lock_.unlock();
        me.sleep.wait(prepared, idle_thread_milliseconds);
        lock_.lock();
        if (blocking_request *request = std::exchange(me.request, nullptr)) {
            lock_.unlock();
            return request;
        }
        if (!me.end_requested)
            remove_idle(me);
    }
    threads_.fetch_sub(1, std::memory_order_relaxed);
    lock_.unlock();
    return nullptr;
}

void blocking_pool::remove_idle(const idle_thread &me) noexcept {
    FULT_ASSERT(lock_.is_held() && !me.request, "a thread with a request is not idle");
    idle_thread **at = &idle_;
    while (*at != &me)
        at = &(*at)->next_idle;
    *at = me.next_idle;
    idle_count_.fetch_sub(1, std::memory_order_relaxed);
}

void blocking_pool::stop() noexcept {
    lock_.lock();
    stopping_ = true;
    for (idle_thread *s = idle_; s;) {
        idle_thread *next_idle = s->next_idle;
        s->end_requested = true;
        s->sleep.post(); // as in assign_or_queue
        s = next_idle;
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

void blocking_pool::report_if_waiting(const blocking_request &request) noexcept {
    unsigned waiting = 0;
    bool found = false;
    {
        const std::lock_guard guard(lock_);
        for (const blocking_request *each = first_; each; each = each->next) {
            found = found || each == &request;
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
