#include "thread_waits.hpp"

#include <limits>
#include <mutex>

#include "parker.hpp"
#include "team.hpp"

namespace fult::detail {

namespace {

class parked_thread final : public thread_wait {
  public:
    parked_thread(parker &until, std::uint32_t prepared) noexcept : parker_(until), prepared_(prepared) {}

    bool is_asleep() const noexcept override { return parker_.is_asleep(prepared_); }
    void sleep() noexcept override { parker_.sleep(prepared_); }
    bool begin_sleep_at_bell() noexcept override { return parker_.begin_sleep_at_bell(prepared_); }
    void end_sleep_at_bell() noexcept override { parker_.end_sleep_at_bell(prepared_); }
    bool unpark() noexcept override { return parker_.unpark(prepared_); }
    std::int64_t deadline() const noexcept override { return std::numeric_limits<std::int64_t>::max(); }

  private:
    parker &parker_;
    const std::uint32_t prepared_;
};

} // namespace

constinit thread_waits waiting_threads;

// A thread is added to the list before it checks whether another thread polls; a poller stops before it
// checks the list.
void thread_waits::add(thread_wait &w) noexcept {
    lock_.lock();
    w.previous_ = nullptr;
    w.next_ = first_;
    if (first_)
        first_->previous_ = &w;
    first_ = &w;
    lock_.unlock();
    count_.fetch_add(1, std::memory_order_seq_cst); // pairs with any
}

void thread_waits::remove(thread_wait &w) noexcept {
    lock_.lock();
    (w.previous_ ? w.previous_->next_ : first_) = w.next_;
    if (w.next_)
        w.next_->previous_ = w.previous_;
    lock_.unlock();
    count_.fetch_sub(1, std::memory_order_relaxed);
}

bool thread_waits::unpark_one() noexcept {
    const std::lock_guard guard(lock_);
    thread_wait *each = first_;
    while (each && !each->unpark())
        each = each->next_;
    return each != nullptr;
}

void hand_off_polling(worker_team &team) noexcept {
    if (!team.services.any() || team.services.is_watched() ||
        team.searching.load(std::memory_order_seq_cst) != 0) // pairs with sleep_or_watch
        return;
    // Awake threads may be about to leave.
    if (!waiting_threads.any() || !waiting_threads.unpark_one())
        team.wake_one(0);
}

void sleep_or_watch(thread_wait &w) noexcept {
    waiting_threads.add(w);
    bool watched = false;
    if (const team_visit here; worker_team *team = here.team())
        // A searching worker polls, too. When it stops, it watches or hands off polling.
        watched = team->services.may_wake_any() &&
                  team->searching.load(std::memory_order_seq_cst) == 0 && // pairs with hand_off_polling
                  team->services.watch(*team, w);
    if (!watched)
        w.sleep();
    waiting_threads.remove(w);
    // Always: a thread that did not watch may have been chosen to, just when its wait ended.
    if (const team_visit here; worker_team *team = here.team())
        hand_off_polling(*team);
}

void wait_for_post(parker &until, std::uint32_t prepared) noexcept {
    parked_thread me(until, prepared);
    while (!until.posted(prepared) && until.begin_sleep(prepared)) {
        sleep_or_watch(me);
        until.end_sleep();
    }
}

} // namespace fult::detail
