#include "home_slots.hpp"

#include <atomic>
#include <mutex>

#include "fult/memory/home_memory.hpp"
#include "fult/tasks/task.hpp"

namespace fult::detail {
namespace {

// The state of a descriptor between two uses of its slot, for assertions.
[[maybe_unused]] bool is_unused(const task *t) noexcept {
    return t->state.load(std::memory_order_relaxed) == busy && !t->context && !t->extras && !t->pinned &&
           t->join.load(std::memory_order_relaxed) == join_none && t->result == result_kind::none;
}

} // namespace

void home_slots::open(worker_hot *home, bool hides_run, std::size_t max_tasks, home_memory &memory) noexcept {
    const auto limit = static_cast<std::uint32_t>(words_for(max_tasks));
    const std::uint64_t last = last_slots_for(max_tasks);
    own_.open(home, hides_run ? &hidden_run_ : &home->run, 0, limit, last, &memory.lower);
    shared_.open(home, &shared_run_, half_words, limit, last, &memory.upper);
}

task *home_slots::take_own() noexcept { return begin_taken(own_.take()); }

task *home_slots::take_own_but_some() noexcept { return own_.has_spare() ? take_own() : nullptr; }
task *home_slots::take_own_of_first_quarter() noexcept {
    return own_.has_spare() ? begin_taken(own_.take_of_first_quarter()) : nullptr;
}

task *home_slots::begin_taken(task *t) noexcept {
    FULT_ASSERT(!t || is_unused(t));
    // A slot that a thief ran and freed must not appear revoked when it is used again.
    tasks_.reconcile_if_revoked();
    tasks_.set_current_word(own_.current_word());
    return t;
}

void home_slots::follow(const task *t) noexcept {
    if (own_.follow(slot_of(t)))
        tasks_.set_current_word(own_.current_word());
}

// As in take_own: slots that other workers freed are collected.
void home_slots::trim_own() noexcept {
    own_.trim();
    tasks_.reconcile_if_revoked();
}

task *home_slots::take_shared() noexcept {
    const std::lock_guard guard(lock_);
    task *t = shared_.take();
    FULT_ASSERT(!t || (is_unused(t) && slot_of(t) >= half_slots));
    if (t)
        tasks_.mark_used(slot_of(t) >> 6);
    return t;
}

void home_slots::trim_shared() noexcept {
    const std::lock_guard guard(lock_);
    shared_.trim();
}

std::uint64_t home_slots::count_living() noexcept {
    const std::lock_guard guard(lock_);
    return own_.count_taken() + shared_.count_taken();
}

std::size_t home_slots::slots_if_short(bool shared) noexcept {
    if (!shared)
        return own_.slots_if_short();
    const std::lock_guard guard(lock_);
    return shared_.slots_if_short();
}

std::uint64_t home_slots::count_ended() noexcept {
    const std::lock_guard guard(lock_);
    return own_.count_ended() + shared_.count_ended();
}

} // namespace fult::detail
