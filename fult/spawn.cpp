#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fult/handle.hpp>
#include <fult/runtime.hpp>
#include <fult/spawn.hpp>

#include "check.hpp"
#include "fork_guard.hpp"
#include "locals.hpp"
#include "option_table.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
namespace {

team &team_of(const char *call) {
    if (worker *w = this_worker()) // in a forked child its attention is raised
        return w->crew;
    check_not_forked();
    if (team *crew = running_team())
        return *crew;
    throw std::logic_error(std::string("fult: ") + call +
                           ": no runtime is running; make a fult::runtime first");
}

[[noreturn]] void no_slot(const worker &home) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "fult: spawn: the table of " +
                                (home.index < home.crew.count ? "worker " + std::to_string(home.index)
                                                              : std::string("foreign threads")) +
                                " is full (" + std::to_string(home.crew.opts.max_tasks) +
                                " living tasks); join some, or raise FULT_MAX_TASKS");
}

// Where the last stack could not be had, one is tried for before anything else is promised.
void demand_stacks(team &crew) {
    if (!crew.short_of_stacks.load(std::memory_order_relaxed)) [[likely]]
        return;
    stack *s = crew.stacks.acquire(1);
    if (!s)
        throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                                "fult: spawn: no memory for another stack (" +
                                    std::to_string(crew.stacks.mapped()) + " of " +
                                    std::to_string(crew.stacks.ordinary_size()) +
                                    " bytes exist); join some tasks, lower FULT_STACK_SIZE, "
                                    "or raise `ulimit -v`");
    crew.stacks.release(s);
    crew.short_of_stacks.store(false, std::memory_order_relaxed);
}

FULT_ALWAYS_INLINE task *with_site(task *t) noexcept {
    auto *home = static_cast<worker *>(home_of(t));
    if (home->crew.opts.spawn_sites) [[unlikely]]
        home->note_site(t);
    return t;
}

FULT_COLD void attend_seldom(worker *w, std::uint32_t wanted) noexcept {
    if (wanted & forked)
        refuse_in_child();
    w->attention.fetch_and(~std::uint32_t{trim_wanted}, std::memory_order_seq_cst); // pairs with fult::trim
    w->trim();
}
// The locals of a task to come. Until it has a slot, the copies are ours.
class inherited {
  public:
    inherited() noexcept = default;
    void make(task_extras &extras, const spawn_options &wanted) {
        values_ = &extras;
        for (const local_value &each : wanted.locals) {
            make_room(extras, each.key);
            put_local(extras, each.key, nullptr); // not to be inherited
        }
        if (wanted.inherit_locals)
            inherit_locals(extras);
    }
    void keep() noexcept { values_ = nullptr; }
    ~inherited() {
        if (values_)
            end_locals(*values_);
    }
    inherited(const inherited &) = delete;
    inherited &operator=(const inherited &) = delete;

  private:
    local_values *values_ = nullptr;
};

task *checked(task *t, const worker &home) {
    if (!t)
        no_slot(home);
    return t;
}

} // namespace

task *take_slot_slow() {
    team &crew = team_of("spawn");
    demand_stacks(crew);
    worker *w = this_worker();
    if (!w)
        return with_site(checked(crew.foreign_home().take_shared_slot(), crew.foreign_home()));
    if (task *t = w->take_own_slot())
        return with_site(t);
    return checked(nullptr, *w);
}

task *take_slot_with(const spawn_options &wanted) {
    team &crew = team_of("spawn");
    demand_stacks(crew);
    worker *here = this_worker();
    if (wanted.worker >= static_cast<int>(crew.count))
        throw std::out_of_range("fult: spawn: there is no worker " + std::to_string(wanted.worker) +
                                "; there are " + std::to_string(crew.count) + ", from 0 on");
    if (wanted.pinned && wanted.worker < 0 && !here)
        throw std::invalid_argument(
            "fult: spawn: a foreign thread must say to which worker a task is pinned");
    if (wanted.stack_size > most_stack)
        throw std::invalid_argument("fult: spawn: a stack of " + std::to_string(wanted.stack_size) +
                                    " bytes; it may have up to 1G");
    std::unique_ptr<task_extras> extras;
    if (!wanted.name.empty() || wanted.stack_size != 0 || wanted.inherit_locals || wanted.locals.size() != 0)
        extras = std::make_unique<task_extras>(wanted.name, wanted.stack_size);
    inherited copies;
    if (extras)
        copies.make(*extras, wanted);
    here = this_worker(); // a copy may have suspended
    worker *home = wanted.worker >= 0 ? crew.homes[static_cast<unsigned>(wanted.worker)]
                   : here             ? here
                                      : &crew.foreign_home();
    task *t = checked(here && home == here ? here->take_own_slot() : home->take_shared_slot(), *home);
    with_site(t)->pinned = wanted.pinned;
    copies.keep();
    for (const local_value &each : wanted.locals)
        put_local(*extras, each.key, each.value);
    home->set_extras(t, std::move(extras));
    return t;
}

void make_ready_slow(task *t) noexcept { static_cast<worker *>(home_of(t))->make_ready(t); }

void attend(worker_hot *hot) noexcept {
    auto *w = static_cast<worker *>(hot);
    const std::uint32_t wanted = w->attention.load(std::memory_order_relaxed);
    if (wanted & (trim_wanted | forked)) [[unlikely]]
        attend_seldom(w, wanted);
    if (wanted & revoked)
        w->tasks.reconcile(0);
    if (wanted & hungry)
        w->feed();
}

bool attend_claim(worker_hot *hot, task *t) noexcept {
    auto *w = static_cast<worker *>(hot);
    const std::uint32_t slot = slot_of(t);
    const std::uint32_t wanted = w->attention.load(std::memory_order_relaxed);
    if (wanted & (trim_wanted | forked)) [[unlikely]]
        attend_seldom(w, wanted);
    const bool lost = (wanted & revoked) && (w->tasks.reconcile(slot >> 6) & bit_of(slot)) != 0;
    if (wanted & hungry)
        w->feed();
    return !lost;
}

void misuse(const char *call, const char *what) noexcept { fatal(call, "%s", what); }

namespace {
FULT_ALWAYS_INLINE void post(task_id id) noexcept {
    const task *t = to_task(id);
    const bool pinned = (id.value() & 1) != 0;
    auto *home = static_cast<worker *>(home_of(t));
    const public_words words = pinned ? home->tasks.pinned() : home->tasks.runnable();
    words.set_slot(slot_of(t));
    home->crew.wake_for(*home, pinned);
}
} // namespace

void post_signal(task_id id) noexcept { post(id); }

#ifndef NDEBUG
namespace {
// Harmless most of the time: but another task may have the slot by now, or have it soon.
void check_alive(task_id id) noexcept {
    static std::atomic<bool> told{false};
    const task *t = to_task(id);
    if (static_cast<worker *>(home_of(t))->is_free(t) && !told.exchange(true, std::memory_order_relaxed))
        warn("signal: the task with the name %#zx has ended, and was joined or detached; keep a name no "
             "longer than "
             "its task lives",
             static_cast<std::size_t>(id.value()));
}
} // namespace
#endif

} // namespace detail

void signal(task_id id) noexcept {
    if (!id) [[unlikely]]
        detail::misuse("signal", "the name of the task is empty");
#ifndef NDEBUG
    detail::check_alive(id);
#endif
    detail::post(id);
}

} // namespace fult
