// The walk over all tasks of a running program.
//
// A suspended task is claimed as a worker would claim it, so nobody runs it while its stack is looked at, and
// parked again as a worker would park it: a signal that came meanwhile stands in its token, and is posted.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include <fult/detail/wait_note.hpp>
#include <fult/inspect.hpp>

#include "fork_guard.hpp"
#include "sanitizer.hpp"
#include "suspend.hpp"
#include "unwind.hpp"
#include "worker.hpp"

namespace fult {
namespace detail {
namespace {

constexpr std::size_t most_frames = 64;
constexpr std::size_t most_outer = 4096; // tasks on one stack that are looked at

// Words that their owner changes by plain stores, looked at from elsewhere: true a moment ago.
FULT_LOOKED_AT task *running_on(const worker &w) noexcept {
    return *const_cast<task *const volatile *>(&w.current);
}
// The word, which is a task's only while t runs: a group's mark before, and anything where t ends just now.
FULT_LOOKED_AT std::uintptr_t outer_of(const task *t) noexcept {
    return reinterpret_cast<std::uintptr_t>(*const_cast<task *const volatile *>(&t->outer)) & ~at_end_mask;
}

FULT_LOOKED_AT task_id id_looked_at(const task *t) noexcept {
    const bool pinned = *const_cast<const volatile bool *>(&t->pinned);
    return task_id::from_value(reinterpret_cast<std::uintptr_t>(t) | (pinned ? 1u : 0u));
}

// What tells descriptors from anything else that a word may hold: no pointer that was read while tasks run is
// followed before it was looked up here.
class descriptor_ranges {
  public:
    explicit descriptor_ranges(const team &crew)
        : homes_(crew.homes.begin(), crew.homes.end()), words_(words_for(crew.opts.max_tasks)) {
        std::sort(homes_.begin(), homes_.end(), std::less<const worker *>());
    }

    // Words of slots in a half of a home whose memory is usable.
    std::uint32_t used_words(const worker &home, bool upper) const noexcept {
        return std::min(home.tasks.words_used(upper), static_cast<std::uint32_t>(words_));
    }

    // The descriptor at this address, or null: a slot that has been in use, whatever it holds now.
    const task *find(std::uintptr_t address) const noexcept {
        const auto *t = reinterpret_cast<const task *>(address);
        const auto *home = reinterpret_cast<const worker *>(address & home_mask);
        if (address % sizeof(task) != 0 || (address & ~home_mask) < tasks_offset ||
            !std::binary_search(homes_.begin(), homes_.end(), home, std::less<const worker *>()))
            return nullptr;
        const std::uint32_t word = slot_of(t) >> 6;
        const bool upper = word >= half_words;
        return word % half_words < used_words(*home, upper) ? t : nullptr;
    }

  private:
    std::vector<const worker *> homes_;
    std::size_t words_;
};

// A description with what it refers to.
struct seen {
    task_description about{};
    char name[128];
    char waits_for[96]; // may lie on the task's stack
    void *frames[most_frames];
    void *site[worker::site_frames];

    explicit seen(const task *t) noexcept {
        const auto &home = *static_cast<worker *>(home_of(t));
        about.id = id_looked_at(t);
        about.home = home.index < home.crew.count ? static_cast<int>(home.index) : -1;
        about.slot = slot_of(t);
        about.worker = -1;
        about.spawned_at = {site, home.site_of(t, site)};
    }
    void set_name(const task *t) noexcept {
        const bool main = about.home == 0 && about.slot == main_slot;
        std::string_view text = main ? "main" : t->extras ? std::string_view(t->extras->name) : "";
        text = text.substr(0, sizeof name);
        std::memcpy(name, text.data(), text.size());
        about.name = {name, text.size()};
    }
    // Of a task that may end meanwhile: then it gives its extras up under the lock.
    void set_name_of_busy(const task *t) noexcept {
        auto *home = static_cast<worker *>(home_of(t));
        home->extras_lock().lock();
        set_name(t);
        home->extras_lock().unlock();
    }

    static constexpr std::uint32_t main_slot = 1; // the first one that is ever taken
};

class walk {
  public:
    walk(team &crew, const std::function<void(const task_description &)> &visitor)
        : crew_(crew), visitor_(visitor), descriptors_(crew) {}

    std::size_t all() {
        for (unsigned i = 0; i < crew_.count; ++i)
            visit_running(*crew_.homes[i]);
        for (worker *home : crew_.homes)
            visit_home(*home);
        for (unsigned i = 0; i < crew_.count; ++i)
            visit_handed(*crew_.homes[i]);
        return count_;
    }

  private:
    void show(seen &s) {
        ++count_;
        visitor_(s.about);
    }

    void visit_running(const worker &w) {
        const task *t = descriptors_.find(reinterpret_cast<std::uintptr_t>(running_on(w)));
        if (!t)
            return;
        seen s(t);
        s.about.status = task_status::running;
        s.about.started = true;
        s.about.worker = static_cast<int>(w.index);
        s.set_name_of_busy(t);
        busy_.push_back(t);
        show(s);
        visit_outer(t);
    }

    // The tasks whose joins run `t` on their stack, one within the other.
    void visit_outer(const task *t) {
        for (std::size_t i = 0; i < most_outer; ++i) {
            const task *outer = descriptors_.find(outer_of(t));
            if (!outer || std::find(busy_.begin(), busy_.end(), outer) != busy_.end())
                return;
            seen s(outer);
            s.about.status = task_status::blocked;
            s.about.started = true;
            s.about.waits_for = "join";
            s.about.joins = id_looked_at(t);
            s.set_name_of_busy(outer);
            show(s);
            t = outer;
        }
    }

    void visit_home(worker &home) {
        for (const bool upper : {false, true}) {
            const std::uint32_t first = upper ? half_words : 0;
            const std::uint32_t used = descriptors_.used_words(home, upper);
            for (std::uint32_t slot = first * 64; slot < (first + used) * 64; ++slot)
                if ((slot & 63) != 0) // never used
                    visit_slot(home, tasks_of(&home) + slot, slot);
        }
    }

    void visit_slot(worker &home, task *t, std::uint32_t slot) {
        if (t->state.load(std::memory_order_relaxed) != busy) {
            visit_claimable(home, t, slot);
            return;
        }
        for (const bool started : {false, true})
            if (home.tasks.is_private(slot, started)) {
                seen s(t);
                s.about.status = task_status::ready;
                s.about.started = started;
                s.set_name_of_busy(t);
                show(s);
                return;
            }
    }

    void visit_claimable(worker &home, task *t, std::uint32_t slot) {
        std::uint32_t before = t->state.load(std::memory_order_relaxed);
        if (before == busy ||
            !t->state.compare_exchange_strong(before, busy, std::memory_order_seq_cst)) // pairs with claim
            return; // a worker was faster: it runs
        seen s(t);
        const bool posted = home.tasks.runnable().contains(slot) || home.tasks.pinned().contains(slot) ||
                            t->token.load(std::memory_order_relaxed) != 0;
        s.set_name(t);
        s.about.pinned = before == ready_pinned;
        s.about.started = t->context != nullptr;
        s.about.status = posted || !t->context ? task_status::ready : task_status::waiting;
        const task *outer = nullptr;
        if (t->context) {
            outer = descriptors_.find(outer_of(t));
            look_at_stack(s, t);
        }
        t->state.exchange(before, std::memory_order_seq_cst); // pairs with claim, as a worker's arrive does
        if (t->token.load(std::memory_order_seq_cst) != 0 &&
            t->token.exchange(0, std::memory_order_seq_cst) != 0) {
            home.tasks.post(t, before == ready_pinned);
            crew_.wake_for(home, before == ready_pinned);
        }
        show(s);
        if (outer)
            visit_outer(t);
    }

    // A task jumps away from different places of the same function: equal stacks are to look so.
    static std::span<void *const> without_switch(std::span<void *const> frames) noexcept {
        for (std::size_t i = 0; i < 3 && i + 1 < frames.size(); ++i)
            if (is_in(frames[i], reinterpret_cast<const void *>(&suspend_until_signaled)))
                return frames.subspan(i + 1);
        return frames;
    }

    void look_at_stack(seen &s, const task *t) const noexcept {
        const auto context = reinterpret_cast<std::uintptr_t>(t->context);
        const auto high = reinterpret_cast<std::uintptr_t>(t->on->high());
        s.about.stack_size = t->on->size;
        s.about.stack_used = high - context;
        s.about.frames = without_switch({s.frames, frames_of(t->context, t->on->high(), s.frames)});
        if (t->note == 0 || s.about.status != task_status::waiting)
            return;
        std::uintptr_t at = (context & ~std::uintptr_t{0xffff'ffff}) | t->note;
        if (at < context)
            at += std::uintptr_t{1} << 32;
        if (at % alignof(wait_note) != 0 || at > high - sizeof(wait_note))
            return; // not on this stack: a program that switches stacks itself waits on another one
        const auto &note = *reinterpret_cast<const wait_note *>(at);
        if (note.what().tell) {
            note.what().tell(note.what().object, s.waits_for, sizeof s.waits_for);
            s.about.waits_for = s.waits_for;
            s.about.timed = note.timed();
            return;
        }
        if (note.what().what) {
            const std::string_view text =
                std::string_view(note.what().what).substr(0, sizeof s.waits_for - 1);
            s.waits_for[text.copy(s.waits_for, text.size())] = 0;
            s.about.waits_for = s.waits_for;
        }
        s.about.object = note.what().object;
        s.about.timed = note.timed();
        const task *joined = descriptors_.find(reinterpret_cast<std::uintptr_t>(note.what().object));
        if (s.about.waits_for && std::strncmp(s.about.waits_for, "join", 4) == 0 && joined)
            s.about.joins = id_looked_at(joined);
    }

    // Claimed, and waiting for their worker's next decision. The chain may change under us, and end in a lock
    // that is kept.
    void visit_handed(const worker &w) {
        const task *t = descriptors_.find(reinterpret_cast<std::uintptr_t>(w.handed()));
        for (std::size_t i = 0; t && i < most_outer; ++i) {
            seen s(t);
            s.about.status = task_status::ready;
            s.about.started = true;
            s.set_name_of_busy(t);
            show(s);
            t = descriptors_.find(reinterpret_cast<std::uintptr_t>(t->next.load(std::memory_order_relaxed)));
        }
    }

    team &crew_;
    const std::function<void(const task_description &)> &visitor_;
    const descriptor_ranges descriptors_;
    std::vector<const task *> busy_; // those that ran when the walk began
    std::size_t count_ = 0;
};

} // namespace
} // namespace detail

std::size_t visit_tasks(const std::function<void(const task_description &)> &visitor) {
    if (detail::in_forked_child())
        return 0;
    const detail::team_guard stays;
    detail::team *crew = detail::running_team();
    return crew ? detail::walk(*crew, visitor).all() : 0;
}

} // namespace fult
