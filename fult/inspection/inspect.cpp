// The walk over all tasks of a running program.
//
// A suspended task is claimed as by a worker, so that it cannot run while its stack is inspected, and made
// claimable again as by a worker: a signal that arrived in between is its pending wake-up, and is posted.
#include <algorithm>
#include <cstring>
#include <functional>
#include <unordered_set>
#include <vector>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/wait_record.hpp>
#include <fult/inspect.hpp>

#include "fult/base/sanitizer.hpp"
#include "fult/base/unwind.hpp"
#include "fult/memory/home_memory.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"
#include "task_subject.hpp"

namespace fult {
namespace detail {
namespace {

constexpr std::size_t max_frames = 64;
constexpr std::size_t max_outer = 4096; // limit of tasks visited on one stack

// Reads words that their owner changes by plain stores: the value may be outdated.
FULT_RACY_READ task *running_on(const worker &w) noexcept {
    return *const_cast<task *const volatile *>(&w.current);
}
// The word is a task's address only while t runs: before, it is a group's mark, and at the end of t it is
// arbitrary.
FULT_RACY_READ std::uintptr_t outer_of(const task *t) noexcept {
    return t->outer.racy_value() & ~at_end_mask;
}

FULT_RACY_READ task_id racy_id_of(const task *t) noexcept {
    const bool pinned = *const_cast<const volatile bool *>(&t->pinned);
    return make_id(t, pinned);
}

// Distinguishes descriptors from arbitrary words: a pointer that was read while tasks run is validated here
// before it is dereferenced.
class descriptor_ranges {
  public:
    explicit descriptor_ranges(const worker_team &team) : words_(words_for(team.opts.max_tasks)) {
        team.for_each_home([this](const worker &home) { homes_.push_back(&home); });
        std::sort(homes_.begin(), homes_.end(), std::less<const worker *>());
    }

    // Number of words in a half of a home whose memory is usable.
    std::uint32_t used_words(const worker &home, bool upper) const noexcept {
        return std::min(home.tasks.words_used(upper), static_cast<std::uint32_t>(words_));
    }

    // The descriptor at this address, or nullptr. Its slot has been in use; its contents are arbitrary.
    const task *find(std::uintptr_t address) const noexcept {
        const auto *t = at_address<const task>(address);
        const auto *home = at_address<const worker>(address & home_mask);
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

// A description and the storage that it refers to.
struct task_record {
    task_description description{};
    char name[128];
    char waits_for[96]; // may lie on the task's stack
    char detail[192];
    void *frames[max_frames];
    void *site[spawn_sites::frames];

    explicit task_record(const task *t) noexcept {
        const auto &home = *static_cast<worker *>(home_of(t));
        description.id = racy_id_of(t);
        description.home = home.has_thread() ? static_cast<int>(home.index) : -1;
        description.slot = slot_of(t);
        description.worker = -1;
        description.spawned_at = {site, home.sites.read(slot_of(t), site)};
    }
    void set_name(std::string_view text) noexcept { description.name = {name, text.copy(name, sizeof name)}; }
    void set_name(const task *t) noexcept {
        set_name(is_main(t) ? "main" : t->extras ? std::string_view(t->extras->name) : std::string_view());
    }
    // For a task that may end at the same time: it releases its extras under the lock.
    void set_name_of_busy(const task *t) noexcept {
        auto *home = static_cast<worker *>(home_of(t));
        home->extras_lock().lock();
        set_name(t);
        home->extras_lock().unlock();
    }
};

class task_walk {
  public:
    task_walk(worker_team &team, const std::function<void(const task_description &)> &visitor)
        : team_(team), visitor_(visitor), descriptors_(team) {}

    std::size_t visit_all() {
        for (unsigned i = 0; i < team_.count(); ++i)
            visit_running(*team_.homes[i]);
        team_.for_each_home([this](worker &home) { visit_home(home); });
        for (unsigned i = 0; i < team_.count(); ++i)
            visit_claimed(*team_.homes[i]);
        return count_;
    }

  private:
    void report(task_record &s) {
        if (s.description.name.empty())
            s.set_name(subjects_.name_of(to_task(s.description.id)));
        ++count_;
        visitor_(s.description);
    }

    void visit_running(const worker &w) {
        const task *t = descriptors_.find(address_of(running_on(w)));
        if (!t)
            return;
        task_record s(t);
        s.description.status = task_status::running;
        s.description.started = true;
        s.description.worker = static_cast<int>(w.index);
        s.set_name_of_busy(t);
        shown_.insert(t);
        report(s);
        visit_outer(t);
    }

    // Visits the tasks whose joins run `t` on their stack, from inside to outside. Called for each task that
    // has a stack, whatever it does: those below it are in no other set of tasks.
    void visit_outer(const task *t) {
        for (std::size_t i = 0; i < max_outer; ++i) {
            const task *outer = descriptors_.find(outer_of(t));
            if (!outer || !shown_.insert(outer).second)
                return;
            task_record s(outer);
            s.description.status = task_status::joining_inline;
            s.description.started = true;
            s.description.waits_for = "join";
            s.description.joins = racy_id_of(t);
            s.set_name_of_busy(outer);
            report(s);
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
        bool reported = false; // a stale bit of another kind may be set
        home.sources.for_each([&](const auto &source) {
            if (!reported && source.holds_private(home, slot)) {
                report_ready(t, source.started);
                reported = true;
            }
        });
    }

    void report_ready(const task *t, bool started) {
        task_record s(t);
        s.description.status = task_status::ready;
        s.description.started = started;
        s.set_name_of_busy(t);
        report(s);
        if (started)
            visit_outer(t);
    }

    void visit_claimable(worker &home, task *t, std::uint32_t slot) {
        const task_state before = t->state.load(std::memory_order_relaxed);
        if (before == busy || try_claim(*t, before) != before)
            return; // a worker has claimed it: it runs
        task_record s(t);
        bool posted = t->pending_wakeup.load(std::memory_order_relaxed) != 0;
        home.sources.for_each(
            [&](const auto &source) { posted = posted || source.holds_public(home, slot); });
        s.set_name(t);
        s.description.pinned = before == ready_pinned;
        s.description.started = t->context != nullptr;
        s.description.status = posted || !t->context ? task_status::ready : task_status::waiting;
        const task *outer = nullptr;
        if (t->context) {
            outer = descriptors_.find(outer_of(t));
            inspect_stack(s, t);
        }
        set_suspended(*t, before); // as a worker's finish_switch does
        if (t->pending_wakeup.load(std::memory_order_seq_cst) != 0 &&
            t->pending_wakeup.exchange(0, std::memory_order_seq_cst) != 0) {
            home.tasks.post(t, before == ready_pinned);
            team_.wake_for(home, before == ready_pinned);
        }
        report(s);
        if (outer)
            visit_outer(t);
    }

    // Removes the frames of the switch: a task jumps from several places in the same function, but equal
    // stacks must compare equal.
    static std::span<void *const> without_switch(std::span<void *const> frames) noexcept {
        for (std::size_t i = 0; i < 3 && i + 1 < frames.size(); ++i)
            if (is_in(frames[i], reinterpret_cast<const void *>(&suspend_until_signaled)))
                return frames.subspan(i + 1);
        return frames;
    }

    void describe_wait(task_record &s, const waiting_for &what) noexcept {
        if (what.what) {
            const std::string_view text = std::string_view(what.what).substr(0, sizeof s.waits_for - 1);
            s.waits_for[text.copy(s.waits_for, text.size())] = 0;
            s.description.waits_for = s.waits_for;
        } else if (what.describe) {
            what.describe(what.object, wait_text::kind, s.waits_for, sizeof s.waits_for);
            s.description.waits_for = s.waits_for;
        }
        if (!what.describe)
            return;
        if (!what.what) { // its kind was a text of its own: the object is one of those that have much to say
            if (details_left_ == 0)
                return;
            --details_left_;
        }
        what.describe(what.object, wait_text::how_far, s.detail, sizeof s.detail);
        s.description.detail = s.detail[0] != 0 ? s.detail : nullptr;
    }

    void inspect_stack(task_record &s, const task *t) noexcept {
        const auto context = address_of(t->context);
        FULT_ASSERT(t->stack && t->state.load(std::memory_order_relaxed) == busy,
                    "the walk has claimed the task");
        const auto high = address_of(t->stack->high());
        s.description.stack_size = t->stack->usable();
        s.description.stack_used = high - context;
        s.description.frames = without_switch({s.frames, frames_of(t->context, t->stack->high(), s.frames)});
        if (t->wait_record == 0 || s.description.status != task_status::waiting)
            return;
        std::uintptr_t at = (context & ~std::uintptr_t{0xffff'ffff}) | t->wait_record;
        if (at < context)
            at += std::uintptr_t{1} << 32;
        if (at % alignof(wait_record) != 0 || at > high - sizeof(wait_record))
            return; // not on this stack: a program that switches stacks itself waits on another one
        const auto &record = *at_address<const wait_record>(at);
        s.description.timed = record.timed();
        describe_wait(s, record.what());
        if (!record.what().what && record.what().describe)
            return; // the object is the library's own
        s.description.object = record.what().object;
        const task *joined = descriptors_.find(address_of(record.what().object));
        if (s.description.waits_for && std::strncmp(s.description.waits_for, "join", 4) == 0 && joined)
            s.description.joins = racy_id_of(joined);
    }

    // Visits claimed tasks that wait for their worker's next decision.
    void visit_claimed(const worker &w) {
        w.sources.for_each([&](const auto &source) {
            source.visit([&](std::uintptr_t address) { return descriptors_.find(address); },
                         [&](const task *t) { report_ready(t, true); });
        });
    }

    worker_team &team_;
    const std::function<void(const task_description &)> &visitor_;
    const descriptor_ranges descriptors_;
    subject_names subjects_;
    // Tasks that were running when the walk began, and those below any task.
    std::unordered_set<const task *> shown_;
    std::size_t count_ = 0;
    unsigned details_left_ = 100; // each may look through all messages of an endpoint
};

} // namespace
} // namespace detail

std::size_t visit_tasks(const std::function<void(const task_description &)> &visitor) {
    if (detail::in_forked_child())
        return 0;
    const detail::team_guard stays;
    detail::worker_team *team = detail::running_team();
    return team ? detail::task_walk(*team, visitor).visit_all() : 0;
}

} // namespace fult
