#include "timer.hpp"

#include <atomic>
#include <mutex>
#include <new>
#include <sched.h>
#include <thread>
#include <utility>

#include "futex.hpp"

namespace fult::detail {

// The earliest deadline first, without memory of its own, so that arming cannot fail. Source: Fredman,
// Sedgewick, Sleator, Tarjan, "The pairing heap", Algorithmica 1 (1986).
class deadline_heap {
  public:
    timed_nudge *earliest() const noexcept { return root_; }

    void insert(timed_nudge &n) noexcept { root_ = meld(root_, &n); }

    void remove(timed_nudge &n) noexcept {
        timed_nudge *below = pair_up(n.child_);
        if (&n == root_) {
            root_ = below;
            if (root_)
                root_->previous_ = nullptr;
            return;
        }
        (n.previous_->child_ == &n ? n.previous_->child_ : n.previous_->next_) = n.next_;
        if (n.next_)
            n.next_->previous_ = n.previous_;
        root_ = meld(root_, below);
    }

  private:
    static timed_nudge *meld(timed_nudge *a, timed_nudge *b) noexcept {
        if (!a || !b)
            return a ? a : b;
        if (b->when_ < a->when_)
            std::swap(a, b);
        b->previous_ = a;
        b->next_ = a->child_;
        if (a->child_)
            a->child_->previous_ = b;
        a->child_ = b;
        a->next_ = a->previous_ = nullptr;
        return a;
    }
    static timed_nudge *pair_up(timed_nudge *list) noexcept {
        timed_nudge *pairs = nullptr; // chained by next_, last first
        while (list) {
            timed_nudge *a = list, *b = a->next_;
            list = b ? b->next_ : nullptr;
            a->next_ = a->previous_ = nullptr;
            if (b)
                b->next_ = b->previous_ = nullptr;
            timed_nudge *both = meld(a, b);
            both->next_ = pairs;
            pairs = both;
        }
        timed_nudge *all = nullptr;
        while (pairs) {
            timed_nudge *rest = pairs->next_;
            pairs->next_ = nullptr;
            all = meld(all, pairs);
            pairs = rest;
        }
        return all;
    }

    timed_nudge *root_ = nullptr;
};

namespace {

// What the process may use, read before a runtime binds its first thread: the timer is started by a worker,
// whose mask it must not keep.
struct allowed_processors {
    cpu_set_t set{};
    bool known = ::sched_getaffinity(0, sizeof set, &set) == 0;
};
const allowed_processors allowed_at_start;

} // namespace

class timer {
  public:
    static timer &the() noexcept {
        alignas(
            timer) static std::byte place[sizeof(timer)]; // never destroyed: its thread uses it to the end
        static timer *const only = ::new (place) timer;
        return *only;
    }

    void start() {
        std::call_once(started_, [this] { std::thread([this] { run(); }).detach(); });
    }

    void arm(timed_nudge &n) noexcept {
        lock_.lock();
        heap_.insert(n);
        const bool first = heap_.earliest() == &n;
        if (first)
            changes_.fetch_add(1, std::memory_order_release); // pairs with the load in run
        lock_.unlock();
        if (first)
            futex_wake(&changes_);
    }

    void disarm(timed_nudge &n) noexcept {
        lock_.lock();
        if (n.armed_)
            heap_.remove(n);
        lock_.unlock();
    }

  private:
    [[noreturn]] void run() noexcept {
        if (allowed_at_start.known)
            ::sched_setaffinity(0, sizeof allowed_at_start.set, &allowed_at_start.set);
        for (;;) {
            const auto now = steady_clock::now();
            lock_.lock();
            timed_nudge *first;
            while ((first = heap_.earliest()) && first->when_ <= now) {
                heap_.remove(*first);
                first->armed_ = false;
                first->who_.nudge(); // under the lock: so it is still there
            }
            const std::uint32_t seen = changes_.load(std::memory_order_acquire); // pairs with arm
            const auto next = first ? first->when_ : steady_clock::time_point::max();
            lock_.unlock();
            futex_wait(changes_, seen, next == steady_clock::time_point::max() ? nullptr : &next);
        }
    }

    std::once_flag started_;
    short_lock lock_;
    deadline_heap heap_;
    std::atomic<std::uint32_t> changes_{0}; // of the earliest deadline
};

void start_timer() { timer::the().start(); }

timed_nudge::timed_nudge(waiter &who, steady_clock::time_point when) noexcept : who_(who), when_(when) {
    timer::the().arm(*this);
}
timed_nudge::~timed_nudge() { timer::the().disarm(*this); }

} // namespace fult::detail
