// Waits for the first of several tasks (tests/model/any.pml).
#include <optional>
#include <stop_token>

#include <fult/detail/assertion.hpp>
#include <fult/handle.hpp>

#include "fult/base/check.hpp"
#include "fult/tasks/completion.hpp"
#include "suspend.hpp"
#include "worker.hpp"

namespace fult::detail {
namespace {

bool has_ended(const task *t) noexcept {
    return t->join.load(std::memory_order_acquire) == join_done; // pairs with the exchange in complete
}

join_word tagged(const any_counter *counter) noexcept { return join_word::of(join_tag::any, counter); }

// Withdraws the wait from the first `count` tasks. Returns the number of tasks that had not ended: the ended
// ones count themselves.
std::size_t withdraw(task *const *tasks, std::size_t count, const any_counter &counter) noexcept {
    std::size_t left = 0;
    for (std::size_t i = 0; i < count; ++i) {
        join_word mine = tagged(&counter);
        if (tasks[i] && tasks[i]->join.compare_exchange_strong(mine, join_none, std::memory_order_acq_rel,
                                                               std::memory_order_acquire)) // with complete
            ++left;
    }
    return left;
}

} // namespace

std::size_t await_any(task *const *tasks, std::size_t count, const std::stop_token *stop) {
    for (std::size_t i = 0; i < count; ++i)
        if (tasks[i] && has_ended(tasks[i]))
            return i;
    const task_id self = to_id(this_worker()->current);
    any_counter counter{self, {nullptr}, {0}};
    const auto wake = [self] { signal(self); };
    std::optional<std::stop_callback<decltype(wake)>> on_stop; // constructed first: it may throw
    if (stop)
        on_stop.emplace(*stop, wake);
    std::size_t asked = 0, waiting = 0;
    for (; asked < count; ++asked) {
        if (!tasks[asked])
            continue;
        join_word seen = join_none;
        if (tasks[asked]->join.compare_exchange_strong(seen, tagged(&counter), std::memory_order_acq_rel,
                                                       std::memory_order_acquire)) // pairs with complete
            ++waiting;
        else if (seen == join_done)
            break;
        else if (seen != tagged(&counter)) // the same handle may be there twice
            misuse("when_any", "another task or thread joins one of these tasks already");
    }
    const bool ended_meanwhile = asked < count;
    if (waiting == 0 && !ended_meanwhile)
        return count;                                                                // no handle owns a task
    while (!ended_meanwhile && counter.ended.load(std::memory_order_acquire) == 0 && // pairs with complete
           !(stop && stop->stop_requested()))
        suspend_until_signaled(false);
    const std::size_t counted = waiting - withdraw(tasks, asked, counter);
    FULT_ASSERT(counter.ended.load(std::memory_order_relaxed) <= counted, "each task counts itself once");
    while (counter.ended.load(std::memory_order_acquire) != counted) // until no task uses the counter
        suspend_until_signaled(false);
    if (ended_meanwhile)
        return asked;
    const task *const first = counter.first.load(std::memory_order_relaxed);
    for (std::size_t i = 0; first && i < count; ++i)
        if (tasks[i] == first)
            return i;
    return count;
}

} // namespace fult::detail
