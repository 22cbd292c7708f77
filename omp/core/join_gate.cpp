#include "join_gate.hpp"

namespace fult::omp {

void join_gate::join() noexcept {
    static constexpr detail::waiting_for end_of_region{"the end of an OpenMP region"};
    joiner_.wait_until([this] { return has_ended(); }, end_of_region);
}

unsigned join_gate::end(bool stays) noexcept {
    const unsigned mine = state_.load(std::memory_order_relaxed);
    FULT_ASSERT((mine & kinds) == runs, "a member ends once a region");
    const unsigned ended = (mine & ~kinds) | (stays ? waits : away);
    state_.exchange(ended, std::memory_order_seq_cst); // pairs with has_ended
    joiner_.wake();
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
