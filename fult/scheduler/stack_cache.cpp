#include "stack_cache.hpp"

#include <atomic>
#include <utility>

#include "team.hpp"

namespace fult::detail {

bool stack_cache::open() noexcept {
    first_ = team_.stacks.acquire(1);
    count_ = first_ ? 1 : 0;
    return first_ != nullptr;
}

stack *stack_cache::take_from_pool(const task *t) noexcept {
    constexpr std::size_t batch = 8;
    stack *s = nullptr;
    if (t->extras && t->extras->stack_size > team_.stacks.ordinary_size()) {
        s = team_.stacks.acquire_sized(t->extras->stack_size);
    } else if (first_) {
        return pop();
    } else if ((s = team_.stacks.acquire(batch))) {
        first_ = s->next;
        for (const stack *each = first_; each; each = each->next)
            ++count_;
    }
    if (!s) {
        team_.short_of_stacks.store(true, std::memory_order_relaxed);
        return nullptr;
    }
    team_.short_of_stacks.store(false, std::memory_order_relaxed);
    return s;
}

void stack_cache::give(stack *s) noexcept {
    FULT_ASSERT(s->idle, "a stack is idle before it is given back");
    constexpr unsigned few = 64;
    if (!team_.stacks.is_ordinary(*s)) {
        team_.stacks.release_sized(s);
        return;
    }
    if (team_.short_of_stacks.load(std::memory_order_relaxed)) [[unlikely]]
        team_.short_of_stacks.store(false, std::memory_order_relaxed); // try unstarted tasks again
    s->next = first_;
    first_ = s;
    if (++count_ <= few)
        return;
    stack *chain = first_; // keep the hottest half
    for (unsigned i = 1; i < few / 2; ++i)
        chain = chain->next;
    team_.stacks.release(std::exchange(chain->next, nullptr));
    count_ = few / 2;
}

void stack_cache::trim() noexcept {
    FULT_ASSERT((first_ != nullptr) == (count_ != 0));
    if (first_) {
        team_.stacks.release(std::exchange(first_, nullptr));
        count_ = 0;
    }
}

} // namespace fult::detail
