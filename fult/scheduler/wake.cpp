// Wake-ups: a signal sets the bit of a task, and a worker is woken that should run it. The other side, how a
// worker falls asleep, is in idling.cpp.
#include <atomic>
#include <cstddef>

#include <fult/detail/forked.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/tied.hpp>
#include <fult/task_id.hpp>

#include "fult/base/check.hpp"
#include "fult/tasks/task.hpp"
#include "team.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {

// Which worker is woken: docs/scheduler.md, "Stealing and sleeping".

void worker_team::wake(unsigned target) noexcept {
    if (sleepers.remove(target))
        homes[target]->idle.unpark();
}

void worker_team::wake_one(unsigned near) noexcept {
    if (const int target = sleepers.remove_any(near); target >= 0)
        homes[static_cast<unsigned>(target)]->idle.unpark();
}

void worker_team::wake_for(const worker &home, bool only_home) noexcept {
    if (!sleepers.any()) // after the OR of the caller
        return;
    if (home.has_thread()) {
        if (sleepers.remove(home.index)) {
            homes[home.index]->idle.unpark();
            return;
        }
        if (only_home || stealing_disabled || home.idle.is_polling())
            return;
    }
    if (searching.load(std::memory_order_seq_cst) != 0) // pairs with search
        return;
    wake_one(home.index);
}

namespace {
FULT_ALWAYS_INLINE void post(task_id id) noexcept {
    const task *t = to_task(id);
    const bool pinned = is_pinned(id);
    auto *home = static_cast<worker *>(home_of(t));
    home->tasks.post(t, pinned);
    home->team.wake_for(*home, pinned);
}
} // namespace

void post_signal(task_id id) noexcept { post(id); }

#ifndef NDEBUG
namespace {
// Mostly harmless, but the slot may belong to another task by now, or soon.
void check_alive(task_id id) noexcept {
    static std::atomic<bool> reported{false};
    const task *t = to_task(id);
    if (static_cast<worker *>(home_of(t))->is_free(t) && !reported.exchange(true, std::memory_order_relaxed))
        warn("signal: the task with the id %#zx has ended and was joined or detached; do not keep an id for "
             "longer than the task lives",
             static_cast<std::size_t>(id.value()));
}
} // namespace
#endif

} // namespace detail

void signal(task_id id) noexcept {
    if (!id) [[unlikely]]
        detail::misuse("signal", "the task id is empty");
    const detail::worker *here = detail::this_worker();
    const detail::team_visit visit(here);
    if (!here) [[unlikely]] {
        detail::check_not_forked();
        if (!visit.team())
            detail::misuse("signal",
                           "no runtime is running; do not keep an id for longer than the task lives");
    }
#ifndef NDEBUG
    detail::check_alive(id);
#endif
    detail::post(id);
}

} // namespace fult
