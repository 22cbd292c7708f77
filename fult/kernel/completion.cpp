#include <fult/detail/assertion.hpp>
#include <fult/detail/completion.hpp>
#include <fult/detail/forked.hpp>
#include <fult/detail/misuse.hpp>
#include <fult/detail/tied.hpp>

#include "fult/scheduler/parker.hpp"
#include "fult/scheduler/processors.hpp"
#include "fult/scheduler/suspend.hpp"
#include "fult/scheduler/thread_waits.hpp"
#include "fult/scheduler/worker.hpp"

namespace fult::detail {

// One step, because the completion may be destroyed after it, and because another one may end at the same
// time.
void completion::end_one() noexcept {
    const team_visit visit(this_worker());                     // the waiter may end before it is signaled
    std::int64_t seen = word_.load(std::memory_order_acquire); // pairs with begin_wait, for the waiter
    join_word who;
    bool last = false;
    do {
        who = waiter_.load(std::memory_order_relaxed);
        last = seen == one + waiting;
    } while (!word_.compare_exchange_weak(seen, last ? 0 : seen - one,
                                          std::memory_order_acq_rel, // pairs with begin_wait
                                          std::memory_order_acquire));
    if (!last)
        return;
    FULT_ASSERT(who.is_waiter(), "the bit `waiting` is set after the waiter");
    if (who.tag() == join_tag::thread)
        who.as<parker>(join_tag::thread)->post();
    else
        post_signal(who.joiner()); // a stale id causes a spurious wake-up
}

// Returns what is outstanding, doubled: if that is positive, the bit is set.
std::int64_t completion::begin_wait(const waiting_for &what, std::int64_t more, join_word me) noexcept {
    std::int64_t open = 0, seen = word_.load(std::memory_order_acquire); // pairs with end_one
    waiter_.store(me, std::memory_order_relaxed);
    do {
        if ((seen & waiting) != 0)
            misuse(what.what, "another task or thread waits for this already");
        open = seen + one * more;
    } while (!word_.compare_exchange_weak(seen, open > 0 ? open + waiting : open,
                                          std::memory_order_acq_rel, // pairs with end_one
                                          std::memory_order_acquire));
    return open;
}

void completion::wait(const waiting_for &what, std::int64_t more) noexcept {
    task *const self = running_task();
    if (!self)
        wait_on_thread(what, more);
    else if (begin_wait(what, more, join_word::of(to_id(self))) > 0)
        suspend_while(what, [this] { return is_waiting(); });
}

void completion::wait_on_thread(const waiting_for &what, std::int64_t more) noexcept {
    check_not_forked();
    parker until;
    const std::uint32_t prepared = until.prepare();
    if (begin_wait(what, more, join_word::of(join_tag::thread, &until)) <= 0)
        return;
    constexpr unsigned spins = 50; // about a microsecond: short tasks have ended by then
    for (unsigned i = 0; i < spins && !until.posted(prepared) && !shares_processors(); ++i)
        cpu_relax();
    // waits for the post, not for the last end: the thread that ends the last uses the parker until then
    wait_for_post(until, prepared);
}

} // namespace fult::detail
