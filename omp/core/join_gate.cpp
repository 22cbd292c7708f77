#include "join_gate.hpp"

#include <fult/detail/platform.hpp>
#include <fult/detail/tied.hpp>
#include <fult/detail/wait_record.hpp>
#include <fult/this_task.hpp>

#include "wait.hpp"

namespace fult::omp {

void join_gate::join() {
    static constexpr detail::waiting_for end_of_region{"the end of an OpenMP region"};
    const detail::wait_record record(detail::running_task(), end_of_region);
    // A signal may be a stale one, of a task of the member that has left late: it has taken the id away, so
    // the id is stored again.
    const std::uint64_t id = this_task::id().value();
    while (!has_ended()) {
        joiner_.store(id, std::memory_order_seq_cst); // pairs with end
        if (has_ended())
            break;
        this_task::wait();
    }
    joiner_.store(0, std::memory_order_relaxed);
}

void join_gate::join_on_foreign_thread() const noexcept {
    for (unsigned seen; ((seen = state_.load(std::memory_order_acquire)) & kinds) == runs;) // pairs with end
        state_.wait(seen, std::memory_order_acquire);
}

unsigned join_gate::end(bool stays, bool foreign) noexcept {
    const unsigned mine = state_.load(std::memory_order_relaxed);
    FULT_ASSERT((mine & kinds) == runs, "a member ends once a region");
    const unsigned ended = (mine & ~kinds) | (stays ? waits : away);
    state_.exchange(ended, std::memory_order_seq_cst); // pairs with has_ended
    if (foreign)
        state_.notify_one();
    else if (joiner_.load(std::memory_order_seq_cst) != 0) // pairs with join
        if (const std::uint64_t id = joiner_.exchange(0, std::memory_order_seq_cst); id != 0)
            detail::post_signal(task_id::from_value(id));
    return ended;
}

namespace {
constexpr unsigned long_polls = 4 * short_polls;
constinit std::atomic<unsigned> patience{long_polls};
} // namespace

void join_gate::set_patience(bool shares_processors) noexcept {
    patience.store(shares_processors ? short_polls : long_polls, std::memory_order_relaxed);
}

bool join_gate::has_little_patience() noexcept {
    return patience.load(std::memory_order_relaxed) == short_polls;
}

bool join_gate::await(unsigned since) noexcept {
    FULT_ASSERT((since & kinds) == waits);
    const auto changed = [this, since] {
        return state_.load(std::memory_order_acquire) != since; // pairs with offer
    };
    unsigned expected = since;
    if (!comes_soon(changed, patience.load(std::memory_order_relaxed)) &&
        state_.compare_exchange_strong(expected, (since & ~kinds) | away, std::memory_order_acq_rel))
        return false;
    return state_.load(std::memory_order_acquire) == ((since & ~kinds) | runs);
}

} // namespace fult::omp
