// Counters. In the heap of its rank a counter has a cell: other ranks know its place, and the owner finds the
// object there.
#include <cstdint>
#include <new>

#include <fult/detail/assertion.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/global/counter.hpp>

#include "global/state.hpp"

namespace fult::global {
namespace detail {
namespace {

// By the second word, a cell differs from what lies there after its end.
struct counter_cell {
    std::uintptr_t address = 0;
    std::uintptr_t check = 0;
};
counter_cell cell_of(const counter *of) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(of);
    return {address, ~address};
}
global_ptr<counter_cell> cell_at(global_ptr<counter> at) noexcept {
    return global_ptr<counter_cell>(at.where());
}

// In place of the list, once its tasks were started.
struct started_mark final : delayed_task {
    void start() noexcept override {}
};
delayed_task *started() noexcept {
    static started_mark mark;
    return &mark;
}

} // namespace

counter &counter_at(memory &in, global_ptr<counter> at) noexcept {
    const counter_cell *found = nullptr;
    try {
        found = in.local(cell_at(at));
    } catch (const std::exception &) { // no place in this heap
    }
    if (!found || found->address == 0 || found->check != ~found->address)
        fult::detail::misuse("global::count_down",
                             "there is no counter at this pointer: it has ended; keep it until it is zero");
    return *reinterpret_cast<counter *>(found->address);
}

} // namespace detail

using namespace detail;

counter::counter(memory &in, std::ptrdiff_t expected) : in_(in), count_(expected), zero_(expected == 0) {
    if (expected < 0)
        fult::detail::misuse("global::counter", "the count is negative");
    if (expected == 0)
        delayed_.store(started(), std::memory_order_relaxed);
    const auto cell = in.allocate<counter_cell>();
    *in.local(cell) = cell_of(this);
    pointer_ = global_ptr<counter>(cell.where());
}

counter::~counter() {
    // Acquire: pairs with count_down.
    if (count_.load(std::memory_order_acquire) == 0)
        zero_.wait();
    else
        for (delayed_task *each = delayed_.load(std::memory_order_relaxed); each;) {
            const std::unique_ptr<delayed_task> ended(each);
            each = each->next;
        }
    const auto cell = cell_at(pointer_);
    *in_.local(cell) = {};
    try {
        in_.deallocate(cell);
    } catch (const std::bad_alloc &) { // its 16 bytes are lost
    }
}

void counter::count_down(std::ptrdiff_t update) noexcept {
    // Release, so that the tasks see what was before each count, and acquire, for the last one.
    const std::ptrdiff_t before = count_.fetch_sub(update, std::memory_order_acq_rel);
    if (update < 0 || update > before)
        fult::detail::misuse("global::counter::count_down",
                             update < 0 ? "the update is negative" : "the update is larger than the count");
    if (before != update || update == 0)
        return;
    // Acquire: the tasks were made by others. Release: for those that find the mark.
    delayed_task *list = delayed_.exchange(started(), std::memory_order_acq_rel);
    delayed_task *first = nullptr; // in the order in which they were made
    FULT_ASSERT(list != started(), "it becomes zero once");
    while (list) {
        delayed_task *const each = list;
        list = each->next;
        each->next = first;
        first = each;
    }
    while (first) {
        delayed_task *const each = first;
        first = each->next;
        each->start();
    }
    zero_.set(); // last: a thread that sees it may end the counter
}

void counter::start_at_zero(delayed_task *made) noexcept {
    delayed_task *last = delayed_.load(std::memory_order_acquire);
    do {
        if (last == started()) {
            made->start();
            return;
        }
        made->next = last;
        // Release: the thread that starts it sees the closure. Acquire: pairs with the mark.
    } while (
        !delayed_.compare_exchange_weak(last, made, std::memory_order_release, std::memory_order_acquire));
}

namespace detail {
// In a task of the owner. Here alone: a function of a header would be one in the library and another one in
// the program.
static void count_down_here(memory &in, global_ptr<counter> at, std::ptrdiff_t update) noexcept {
    counter_at(in, at).count_down(update);
}
} // namespace detail

void count_down(memory &in, global_ptr<counter> at, std::ptrdiff_t update) {
    if (at.rank() == in.rank())
        detail::count_down_here(in, at, update);
    else
        spawn_detached_at<detail::count_down_here>(in, at.rank(), at, update);
}

} // namespace fult::global
