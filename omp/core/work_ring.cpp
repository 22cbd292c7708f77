#include "work_ring.hpp"

#include <algorithm>
#include <new>

#include <fult/detail/assertion.hpp>

#include "error.hpp"
#include "wait.hpp"
#include "workshare.hpp"

namespace fult::omp {
namespace {

// Marks a place that some of `size` members have left, and not all. Its turn may have come to be the caller's
// meanwhile: then its last member finds nothing under the mutex, and goes on as without the mark.
bool mark(work_share &w, unsigned size) noexcept {
    unsigned seen = w.left.load(std::memory_order_relaxed);
    do
        if ((seen & work_ring::marked) != 0)
            return true;
        else if (seen == 0 || seen == size) // the last member, which saw no mark, is about to change the turn
            return false;
    while (!w.left.compare_exchange_weak(
        seen, seen | work_ring::marked,
        std::memory_order_acquire)); // pairs with leave_share: the turn that those members saw
    return true;
}

} // namespace

work_ring::work_ring() : places_(std::make_unique<work_share[]>(length)) { reset(); }
work_ring::~work_ring() = default;

// That of the latest construct in beyond_ is later than those of the place, so one whose turn has passed, or
// is not there yet, is in beyond_ or comes to be.
work_share *work_ring::find(std::uint64_t construct, unsigned size) {
    const std::lock_guard lock(mutex_);
    if (const auto at = beyond_.find(construct); at != beyond_.end())
        return at->second.get();
    work_share &place = place_of(construct);
    const bool is_marked = mark(place, size);
    // pairs with leave_share. After the mark: once the turn is this one's, it stays until the caller leaves
    if (place.turn.load(std::memory_order_acquire) == construct)
        return &place;
    if (!is_marked)
        return nullptr;
    FULT_ASSERT(place.turn.load(std::memory_order_relaxed) < construct,
                "what was passed over is in beyond_ until all have left it");
    auto made = std::make_unique<work_share>();
    made->turn.store(construct, std::memory_order_relaxed);
    made->claimed.store(construct, std::memory_order_relaxed);
    made->left.store(marked, std::memory_order_relaxed);
    latest_[construct % length] = construct;
    return beyond_.emplace(construct, std::move(made)).first->second.get();
}

work_share &work_ring::share_beyond(std::uint64_t construct, unsigned size) try {
    FULT_ASSERT(size > 1, "a member alone does not run ahead");
    work_share *found = nullptr;
    poll_until([&] { return (found = find(construct, size)) != nullptr; });
    return *found;
} catch (const std::bad_alloc &) {
    fail("no memory for a work-sharing construct that a thread has reached long before another one; add a "
         "barrier");
}

void work_ring::end_marked(work_share &w) noexcept {
    const std::lock_guard lock(mutex_);
    const std::uint64_t construct = w.turn.load(std::memory_order_relaxed);
    if (&w != &place_of(construct)) {
        [[maybe_unused]] const std::size_t erased = beyond_.erase(construct);
        FULT_ASSERT(erased == 1, "the last member frees it");
        return;
    }
    assign(w, std::max(construct, latest_[construct % length]) + length);
}

void work_ring::reset() noexcept {
    beyond_.clear();
    for (unsigned i = 0; i < length; ++i) {
        work_share &w = places_[i];
        w.drop_contents();
        w.ready.store(0, std::memory_order_relaxed);
        assign(w, i);
        latest_[i] = 0;
    }
}

} // namespace fult::omp
