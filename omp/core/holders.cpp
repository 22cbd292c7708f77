#include "holders.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "fork.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

alignas(64) constinit std::atomic<unsigned> changes{1}; // written under the lock

bool has_region(const thread_state &opener) noexcept {
    return opener.open_regions.load(std::memory_order_seq_cst) != 0; // pairs with begin_holding
}

// One search for workers, under the lock.
class search_for_workers {
  public:
    search_for_workers(team &t, unsigned workers, thread_state *opener) : opener_(opener), used_(workers) {
        for (unsigned i = 1; i < t.size; ++i)
            left_.push_back(&t.members[i]);
        if (t.avoids_worker_0)
            used_[0] = true;
        if (opener_->worker != thread_state::no_worker)
            used_[opener_->worker] = true;
        if (is_outermost(t))
            return;
        for (const team *around = t.creator->in(); around;
             around = around->creator ? around->creator->in() : nullptr)
            for (unsigned i = 0; i < around->size; ++i)
                if (const unsigned w = around->members[i].at->worker; w < used_.size())
                    used_[w] = true;
    }
    static bool is_outermost(const team &t) noexcept { return t.creator->in()->active_level == 0; }

    // Each gets the worker of its number, if that can be; else it has its place there. A number that has had
    // none has it at chosen(number).
    void place(const std::function<thread_state *(unsigned)> &chosen, bool outermost) {
        std::erase_if(left_, [&](team_member *m) {
            thread_state *const last = outermost ? numbered(*m) : nullptr;
            m->at = last ? last : chosen(m->number);
            return last && take(m, last->worker, [this](const thread_state &w) {
                       return is_held(w) || is_free(w) || is_idle(w);
                   });
        });
    }
    // The workers that have been taken are those of their numbers from now on. Larger numbers share some.
    void number(const team &t) {
        const std::size_t count = std::min(used_.size(), std::size_t{t.size});
        if (opener_->numbered.size() < count)
            opener_->numbered.resize(count);
        for (unsigned i = 1; i < count; ++i)
            if (thread_state *const at = t.members[i].at; at->holder == opener_)
                opener_->numbered[i] = at;
    }
    // Gives them the workers where they are, if may_take(worker).
    template <class May> void take_where_they_are(const May &may_take) {
        std::erase_if(left_, [&](team_member *m) { return take(m, m->at->worker, may_take); });
    }
    // And any others.
    template <class May> void take_any(const May &may_take) {
        take_where_they_are(may_take);
        for (unsigned w = 0; w < used_.size() && !left_.empty(); ++w)
            if (take(left_.front(), w, may_take))
                left_.erase(left_.begin());
    }
    unsigned missing() const noexcept { return static_cast<unsigned>(left_.size()); }
    bool leaves_some() const { return std::find(used_.begin(), used_.end(), false) != used_.end(); }
    void extend(unsigned workers) { used_.resize(workers); }

    bool is_held(const thread_state &w) const noexcept { return w.holder == opener_; }
    static bool is_free(const thread_state &w) noexcept { return !w.holder; }
    // Of a thread without a region, which learns of it by the change (tests/model/hold.pml).
    static bool is_idle(const thread_state &w) noexcept {
        if (!w.holder || has_region(*w.holder))
            return false;
        changes.fetch_add(1, std::memory_order_seq_cst); // pairs with begin_holding
        return !has_region(*w.holder);
    }

  private:
    thread_state *numbered(const team_member &m) const noexcept {
        const auto &all = opener_->numbered;
        thread_state *const at = m.number < all.size() ? all[m.number] : nullptr;
        return at && at->worker < used_.size() ? at : nullptr; // an earlier runtime had more
    }
    template <class May> bool take(team_member *m, unsigned worker, const May &may_take) {
        if (worker >= used_.size() || used_[worker])
            return false;
        thread_state *const at = worker_thread(worker);
        if (!may_take(*at))
            return false;
        used_[worker] = true;
        m->at = at;
        at->holder = opener_;
        return true;
    }

    thread_state *opener_;
    std::vector<bool> used_; // by this team
    std::vector<team_member *> left_;
};

} // namespace

void begin_holding(thread_state *opener) noexcept {
    FULT_ASSERT(is_here(opener));
    opener->open_regions.fetch_add(1, std::memory_order_seq_cst); // before it reads `changes`
}

void end_holding(thread_state *opener) noexcept {
    [[maybe_unused]] const unsigned before =
        opener->open_regions.fetch_sub(1, std::memory_order_release); // after its members' end
    FULT_ASSERT(before != 0 && is_here(opener));
}

void release_held_workers(thread_state &opener) noexcept {
    FULT_ASSERT(!has_region(opener));
    const std::lock_guard lock(mutex_of(shared_state::holders));
    bool some = false;
    for_each_worker_state([&](thread_state &w) {
        if (w.holder == &opener) {
            w.holder = nullptr;
            some = true;
        }
    });
    opener.numbered.clear();
    if (some) // the next thread that takes over its state, and its team
        changes.fetch_add(1, std::memory_order_seq_cst);
}

unsigned changes_of_holders() noexcept { return changes.load(std::memory_order_seq_cst); }

held_workers hold_workers(team &t, unsigned workers, thread_state *opener,
                          const std::function<thread_state *(unsigned)> &chosen) {
    FULT_ASSERT(t.size > 1 && workers != 0 && t.members[0].at == opener);
    const std::lock_guard lock(mutex_of(shared_state::holders));
    search_for_workers search(t, workers, opener);
    const bool outermost = search_for_workers::is_outermost(t);
    search.place(chosen, outermost);
    search.take_any([&search](const thread_state &w) { return search.is_held(w); });
    search.take_any(search_for_workers::is_free);
    // Others may have added some, and hold them.
    for (unsigned before = 0;
         search.missing() != 0 && (!outermost || search.leaves_some()) && before != workers;) {
        before = workers;
        workers = add_workers(workers + search.missing());
        search.extend(workers);
        search.take_any(search_for_workers::is_free);
    }
    search.take_any(search_for_workers::is_idle);
    if (outermost)
        search.number(t);
    return {workers, search.missing() == 0 || !search.leaves_some()};
}

} // namespace fult::omp
