#include "holders.hpp"

#include <mutex>
#include <vector>

#include <fult/detail/assertion.hpp>

#include "fork.hpp"
#include "threads.hpp"

namespace fult::omp {
namespace {

constinit std::atomic<unsigned> changes{1};

// One search for workers, under the lock.
class search_for_workers {
  public:
    search_for_workers(team &t, unsigned workers) : opener_(t.members[0].at), used_(workers) {
        for (unsigned i = 1; i < t.size; ++i)
            left_.push_back(&t.members[i]);
        if (workers != 0 && t.avoids_worker_0)
            used_[0] = true;
        if (opener_->worker != thread_state::no_worker)
            used_[opener_->worker] = true;
    }

    // Gives the members that have none yet a worker each, as far as is(worker) is true: those where they are,
    // and then any.
    template <class Is> void take(const Is &is) {
        take_each(is, [](const member &m) { return m.at->worker; });
        unsigned next = 0;
        take_each(is, [&](const member &) {
            while (next < used_.size() && !fits(next, is))
                ++next;
            return next;
        });
    }
    void take_all_that_are_held() {
        take([this](const thread_state &w) { return w.holder == opener_; });
    }
    void take_all_that_are_free() {
        take([](const thread_state &w) { return !w.holder; });
    }
    void take_those_of_threads_without_a_region() {
        take([](const thread_state &w) {
            if (w.holder->open_regions.load(std::memory_order_seq_cst) != 0)
                return false;
            changes.fetch_add(1, std::memory_order_seq_cst); // pairs with begin_holding
            return w.holder->open_regions.load(std::memory_order_seq_cst) == 0;
        });
    }
    unsigned missing() const noexcept { return static_cast<unsigned>(left_.size()); }
    void extend(unsigned workers) { used_.resize(workers); }

  private:
    template <class Is> bool fits(unsigned worker, const Is &is) const {
        return !used_[worker] && is(*worker_thread(worker));
    }
    template <class Is, class Where> void take_each(const Is &is, const Where &where) {
        std::erase_if(left_, [&](member *m) {
            const unsigned worker = where(*m);
            if (worker >= used_.size() || !fits(worker, is))
                return false;
            used_[worker] = true;
            m->at = worker_thread(worker);
            m->at->holder = opener_;
            return true;
        });
    }

    const thread_state *opener_;
    std::vector<bool> used_; // by this team
    std::vector<member *> left_;
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

unsigned changes_of_holders() noexcept { return changes.load(std::memory_order_seq_cst); }

unsigned hold_workers(team &t, unsigned workers) {
    if (t.size == 1)
        return workers;
    const std::lock_guard lock(mutex_of(shared_state::holders));
    search_for_workers search(t, workers);
    search.take_all_that_are_held();
    search.take_all_that_are_free();
    search.take_those_of_threads_without_a_region();
    // Others may have added some, and hold them.
    for (unsigned before = 0; search.missing() != 0 && before != workers;) {
        before = workers;
        workers = add_workers(workers + search.missing());
        search.extend(workers);
        search.take_all_that_are_free();
    }
    return workers;
}

} // namespace fult::omp
