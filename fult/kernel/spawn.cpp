#include <memory>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fult/detail/forked.hpp>
#include <fult/handle.hpp>
#include <fult/runtime.hpp>
#include <fult/spawn.hpp>

#include "fult/base/check.hpp"
#include "fult/base/option_table.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"
#include "locals.hpp"

namespace fult {
namespace detail {
namespace {

[[noreturn]] void refuse_without_runtime() {
    throw std::logic_error("fult: spawn: no runtime is running; start a fult::runtime first");
}

// The team in which the caller spawns, while its visit lives.
worker_team &team_of(const worker *here, const team_visit &visit) {
    if (!here) // in a forked child a worker has a request flag set
        check_not_forked();
    worker_team *const team = visited_team(here, visit);
    if (!team)
        refuse_without_runtime();
    return *team;
}

// A foreign thread has taken a slot of this home. Either the end of the runtime, which closes the team first,
// sees that when it counts the living tasks, or the team is closed here (tests/model/end.pml). The lock of
// the slots orders both.
task *admit(task *t, const worker &home) {
    if (t && home.team.closed.load(std::memory_order_acquire)) [[unlikely]] { // pairs with ~engine
        public_words(&home, returned_offsets).set_slot(slot_of(t));           // unused: as release_slot_slow
        refuse_without_runtime();
    }
    return t;
}

[[noreturn]] void throw_no_slot(worker &home) {
    const std::string table =
        "fult: spawn: the table of " +
        (home.has_thread() ? "worker " + std::to_string(home.index) : std::string("foreign threads"));
    const auto why = std::make_error_code(std::errc::resource_unavailable_try_again);
    if (const std::size_t slots = home.slots.slots_if_short(&home != this_worker()); slots != 0)
        throw std::system_error(why, table + " is full (" + std::to_string(slots) +
                                         " living tasks, and the system has no memory or addresses for "
                                         "more); join some, or raise `ulimit -v`");
    throw std::system_error(why, table + " is full (" + std::to_string(home.team.opts.max_tasks) +
                                     " living tasks); join some, or raise FULT_MAX_TASKS");
}

// If the last stack could not be allocated, a spawn first tries to allocate one.
void require_stacks(worker_team &team) {
    if (!team.short_of_stacks.load(std::memory_order_relaxed)) [[likely]]
        return;
    if (!team.ends_shortage())
        throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                                "fult: spawn: no memory for another stack (" +
                                    std::to_string(team.stacks.mapped()) + " of " +
                                    std::to_string(team.stacks.ordinary_size()) +
                                    " bytes exist); join some tasks, lower FULT_STACK_SIZE, "
                                    "or raise `ulimit -v`");
}

FULT_ALWAYS_INLINE task *record_site(task *t) noexcept {
    auto *home = static_cast<worker *>(home_of(t));
    if (home->team.opts.spawn_sites) [[unlikely]]
        home->sites.record(slot_of(t));
    return t;
}

// Of a task to be spawned: deleted with its values until the task has a slot.
struct deleted_with_values {
    void operator()(task_extras *extras) const noexcept {
        end_locals(*extras);
        delete extras;
    }
};

// The values that the task inherits, and room for those of its own.
void prepare_locals(task_extras &extras, const spawn_options &wanted) {
    for (const local_value &each : wanted.locals) {
        if (!is_key(each.key) || has_entry(extras, each.key))
            throw std::invalid_argument(
                "fult: spawn: locals name a key twice, or one that does not exist; the task could own "
                "only one of its values");
        make_room(extras, each.key);
        put_local(extras, each.key, nullptr); // do not inherit this one
    }
    if (wanted.inherit_locals)
        inherit_locals(extras);
}

task *require_slot(task *t, worker &home) {
    if (!t)
        throw_no_slot(home);
    return t;
}

// True if the spawning task may suspend here.
bool may_suspend_in_spawn() noexcept {
    const worker *w = this_worker();
    return w && w->current && !w->no_suspension_in_spawn;
}

// The table is full: other tasks run, and may end, before an error is thrown. Bounded, because they may wait
// for the task to be spawned: by the number of decisions, and by the number of successive decisions that
// found no task.
template <class Take> task *take_after_turns(const Take &take) noexcept {
    constexpr unsigned max_turns = 65'536, max_failures = 1000;
    if (!may_suspend_in_spawn())
        return nullptr;
    for (unsigned turns = 0, in_vain = 0; turns < max_turns && in_vain < max_failures; ++turns) {
        if (let_others_run())
            in_vain = 0;
        else if (++in_vain % 256 == 0)
            ::sched_yield(); // another worker may need this processor
        else
            cpu_relax();
        if (task *t = take())
            return t;
    }
    return nullptr;
}

// As the fast path does: a spawn counts for the row of its joiner.
void count_spawn() noexcept {
    if (worker *w = this_worker())
        count_in_row(w);
}

task *take_own_slot_in_turn() {
    if (this_worker()->slots.is_far_ahead() && may_suspend_in_spawn()) [[unlikely]]
        let_others_run();
    const auto take = [] { return this_worker()->slots.take_own(); };
    if (task *t = take()) [[likely]]
        return t;
    return require_slot(take_after_turns(take), *this_worker());
}

} // namespace

task *take_slot_slow() {
    worker *const here = this_worker();
    const team_visit visit(here);
    worker_team &team = team_of(here, visit);
    require_stacks(team);
    count_spawn();
    if (here)
        return record_site(take_own_slot_in_turn());
    worker &home = team.foreign_home();
    return record_site(require_slot(admit(home.slots.take_shared(), home), home));
}

task *try_take_slot(if_many taken) noexcept {
    worker *const here = this_worker();
    FULT_ASSERT(here, "a foreign thread has no slots of its own");
    if (taken != if_many::last && here->team.short_of_stacks.load(std::memory_order_relaxed) &&
        !here->team.ends_shortage()) [[unlikely]]
        return nullptr;
    task *const t = taken == if_many::refuse  ? here->slots.take_own_of_first_quarter()
                    : taken == if_many::spare ? here->slots.take_own_but_some()
                                              : here->slots.take_own();
    if (!t)
        return nullptr;
    count_spawn();
    return record_site(t);
}

bool has_slot(if_many taken) noexcept {
    home_slots &slots = this_worker()->slots;
    return taken == if_many::last ? slots.has_free_own() : slots.has_spare_own();
}

task *take_slot_with(const spawn_options &wanted) {
    const team_visit visit(this_worker());
    worker_team &team = team_of(this_worker(), visit);
    if (wanted.worker < -1 || wanted.worker >= static_cast<int>(team.count()))
        throw std::out_of_range("fult: spawn: there is no worker " + std::to_string(wanted.worker) +
                                "; there are " + std::to_string(team.count()) +
                                " workers, numbered from 0; -1 is the spawning worker");
    if (wanted.pinned && wanted.worker < 0 && !this_worker())
        throw std::invalid_argument(
            "fult: spawn: a foreign thread must name the worker to which a task is pinned");
    if (wanted.stack_size > max_stack_size)
        throw std::invalid_argument("fult: spawn: a stack of " + std::to_string(wanted.stack_size) +
                                    " bytes; the maximum is 1G");
    require_stacks(team);
    std::unique_ptr<task_extras, deleted_with_values> extras;
    if (!wanted.name.empty() || wanted.stack_size != 0 || wanted.inherit_locals || !wanted.locals.empty()) {
        extras.reset(new task_extras(wanted.name, wanted.stack_size));
        prepare_locals(*extras, wanted);
    }
    worker *home = nullptr;
    const auto take = [&] {
        worker *const here = this_worker(); // read here: a copy may suspend, and so may this
        home = wanted.worker >= 0 ? team.homes[static_cast<unsigned>(wanted.worker)]
               : here             ? here
                                  : &team.foreign_home();
        if (here)
            return home == here ? here->slots.take_own() : home->slots.take_shared();
        return admit(home->slots.take_shared(), *home);
    };
    task *t = take();
    if (!t)
        t = require_slot(take_after_turns(take), *home);
    record_site(t)->pinned = wanted.pinned;
    for (const local_value &each : wanted.locals)
        put_local(*extras, each.key, each.value);
    home->set_extras(t, std::unique_ptr<task_extras>(extras.release()));
    count_spawn();
    return t;
}

void end_row() noexcept { this_worker()->end_row(); }
void count_step() noexcept { this_worker()->count_step(); }

void misuse(const char *call, const char *what) noexcept { fatal(call, "%s", what); }

} // namespace detail
} // namespace fult
