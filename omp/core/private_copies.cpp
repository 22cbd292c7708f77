#include "private_copies.hpp"

#include <cstring>
#include <utility>

#include <fult/detail/assertion.hpp>
#include <fult/spawn.hpp>

#include "error.hpp"
#include "taskgroup.hpp"
#include "team.hpp"

namespace fult::omp {

private_copies::private_copies(const std::vector<reduced_variable> &variables, unsigned threads,
                               unsigned sharers)
    : threads_(threads), sharers_(sharers), left_(sharers) {
    FULT_ASSERT(threads != 0 && sharers != 0);
    constexpr std::size_t line = 64; // threads write to their copies
    for (const reduced_variable &v : variables) {
        const std::size_t step = (v.size + line - 1) / line * line;
        all_.push_back({v, step, std::make_unique<std::atomic<void *>[]>(sharers),
                        std::make_unique<char[]>(step * threads),
                        std::make_unique<std::atomic<bool>[]>(threads)});
    }
    share(0, variables);
    for (const copies &c : all_)
        for (unsigned i = 0; i < threads && !c.of.lazy; ++i)
            make(c, i);
}

void private_copies::make(const copies &c, unsigned thread) const {
    FULT_ASSERT(!c.made[thread].load(std::memory_order_relaxed), "a copy is made once");
    if (c.of.begin_with)
        c.of.begin_with(c.of_thread(thread), c.of.original);
    else if (c.of.begin)
        c.of.begin(c.of_thread(thread));
    c.made[thread].store(true, std::memory_order_relaxed);
}

void private_copies::share(unsigned sharer, const std::vector<reduced_variable> &variables) noexcept {
    FULT_ASSERT(sharer < sharers_ && variables.size() == all_.size(),
                "all sharers reduce the same variables");
    for (std::size_t i = 0; i < all_.size(); ++i)
        all_[i].shared[sharer].store(variables[i].shared, std::memory_order_relaxed);
}

bool private_copies::is_shared(const copies &c, const void *address) const noexcept {
    for (unsigned i = 0; i < sharers_; ++i)
        if (c.shared[i].load(std::memory_order_relaxed) == address)
            return true;
    return false;
}

void *private_copies::find(const void *address, unsigned thread) {
    FULT_ASSERT(thread < threads_, "a task of the team");
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    for (const copies &c : all_) {
        const auto from = reinterpret_cast<std::uintptr_t>(c.memory.get());
        if ((at < from || at >= from + c.step * threads_) && !is_shared(c, address))
            continue;
        if (!c.made[thread].load(std::memory_order_relaxed)) // only this thread makes it
            make(c, thread);
        return c.of_thread(thread);
    }
    return nullptr;
}

const team_member &private_copies::combines(const copies &c, const team_member &here) const noexcept {
    if (!c.of.lazy || c.made[here.number].load(std::memory_order_relaxed))
        return here;
    for (unsigned i = 0; i < threads_; ++i)
        if (const team_member &other = here.in->members[i];
            c.made[i].load(std::memory_order_relaxed) && other.at->worker != thread_state::no_worker)
            return other;
    return here;
}

void private_copies::combine(const copies &c, unsigned sharer) const noexcept {
    for (unsigned i = 0; i < threads_; ++i) {
        if (!c.made[i].load(std::memory_order_relaxed))
            continue;
        c.of.combine(c.shared[sharer].load(std::memory_order_relaxed), c.of_thread(i));
        if (c.of.end)
            c.of.end(c.of_thread(i));
    }
}

void private_copies::combine(unsigned sharer, const team_member &here) const {
    for (const copies &c : all_) {
        const team_member &there = combines(c, here);
        if (there.at == here.at)
            combine(c, sharer);
        else
            spawn_pinned(static_cast<int>(there.at->worker), [&] { combine(c, sharer); }).join();
    }
}

void private_copies::leave(unsigned sharer, const team_member &here) {
    FULT_ASSERT(sharer < sharers_);
    const unsigned before = left_.fetch_sub(1, std::memory_order_acq_rel);
    FULT_ASSERT(before != 0 && before <= sharers_, "each sharer leaves once");
    if (before != 1)
        return;
    combine(sharer, here);
    delete this;
}

namespace {
constexpr std::uintptr_t mark = 1;
static_assert(alignof(private_copies) > mark && alignof(std::uintptr_t) > mark);
} // namespace

private_copies *copies_of(const child_counter *group) noexcept {
    if (!group->outer) // no taskgroup
        return nullptr;
    const auto word = reinterpret_cast<std::uintptr_t>(static_cast<const group_counter *>(group)->reductions);
    return (word & mark) != 0 ? reinterpret_cast<private_copies *>(word - mark) : nullptr;
}

void add_copies(group_counter *group, private_copies *c) noexcept {
    if (group->reductions && !copies_of(group))
        fail("two compilers' reductions in one taskgroup");
    FULT_ASSERT(group->outer, "the first counter of a task is no taskgroup's");
    FULT_ASSERT(c->sharers() == 1 || !copies_of(group), "shared copies are the first of their taskgroups");
    if (!c->next)
        c->next = copies_of(group);
    group->reductions = reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(c) | mark);
}

void *find_copy(const omp_task *me, const child_counter *from, const void *address) {
    const unsigned thread = me->self->number;
    const omp_task *task = from ? from->owner : me;
    const child_counter *s = from ? from : me->innermost;
    for (;; s = task->counted_in, task = task->parent) {
        for (; s; s = s->outer)
            for (private_copies *c = copies_of(s); c; c = c->next)
                if (void *const copy = c->find(address, thread))
                    return copy;
        if (!task || !task->counted_in)
            fail("a task has in_reduction for %p, which no enclosing taskgroup or construct reduces",
                 address);
    }
}

void end_taskgroup_with_copies(omp_task *me) {
    private_copies *c = copies_of(me->innermost);
    end_taskgroup(me);
    while (c) {
        private_copies *const each = std::exchange(c, c->next);
        each->leave(each->sharers() > 1 ? me->self->number : 0, *me->self);
    }
}

} // namespace fult::omp
