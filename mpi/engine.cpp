#include "engine.hpp"

#include <ctime>

#include <fult/detail/forked.hpp>
#include <fult/detail/service.hpp>
#include <fult/this_task.hpp>

#include "below.hpp"
#include "error_route.hpp"
#include "peer_counts.hpp"
#include "progress_service.hpp"

namespace fult::mpi {
namespace {

constexpr unsigned polls_per_step = 8;    // of a task: polls between two checks for other work
constexpr unsigned polls_of_thread = 200; // before its first pause

void sleep_for(std::int64_t nanoseconds) noexcept {
    constexpr std::int64_t second = 1'000'000'000;
    const std::timespec time{static_cast<std::time_t>(nanoseconds / second),
                             static_cast<long>(nanoseconds % second)};
    ::nanosleep(&time, nullptr);
}

// For reports.
void describe_wait(const void *object, fult::detail::wait_text which, char *text, std::size_t size) noexcept {
    if (which == fult::detail::wait_text::how_far)
        describe(*static_cast<const call_facts *>(object), text, size);
}

} // namespace

// Never destroyed: workers may poll while the process ends.
engine &the_engine() noexcept {
    static auto *const one = new engine;
    return *one;
}

// Under the lock. Tests the requests of one operation, which are not in the table.
bool engine::test_parts(operation &op) noexcept {
    error_route errors(requests_.may_errors_return());
    for (unsigned i = 0; i < op.count; ++i) {
        part &each = op.parts[i];
        if (!each.of)
            continue;
        int flag = 0;
        const int code = FULT_BELOW(Test)(&each.handle, &flag, each.status);
        errors.forward(code, op.facts);
        if ((flag || code != MPI_SUCCESS) && op.end_part(each, code))
            return true;
    }
    return false;
}

// Under the lock.
void engine::count_end(unsigned ended) noexcept {
    FULT_ASSERT(lock_.is_held_here() && ended <= under_way_.load(std::memory_order_relaxed));
    under_way_.fetch_sub(ended, std::memory_order_relaxed);
    activity_.store(activity() + ended, std::memory_order_relaxed);
}

// Under the lock. True if it is complete.
bool engine::test_one(operation &op) noexcept { return op.count == 0 ? op.test() : test_parts(op); }

// Under the lock. True if it is complete.
bool engine::begin(operation &op) noexcept {
    FULT_ASSERT(lock_.is_held_here());
    activity_.store(activity() + 1, std::memory_order_relaxed);
    counters_.count_operation();
    op.error = op.start();
    return op.error != MPI_SUCCESS || test_one(op);
}

// Under the lock. An answer that comes soon needs no table, while there is nothing else to do, here and in
// the worker.
bool engine::test_while_alone(operation &op) noexcept {
    FULT_ASSERT(lock_.is_held_here() && op.error == MPI_SUCCESS);
    constexpr unsigned looks = 512, between_checks = 16;
    if (under_way() != 0 || is_crowded())
        return false;
    for (unsigned i = 0; i < looks && !lock_.is_wanted(); ++i) {
        if (i % between_checks == 0 && fult::detail::others_ready())
            return false;
        if (test_one(op))
            return true;
    }
    return false;
}

// Under the lock. True if it is complete.
bool engine::start_testing(operation &op) noexcept {
    while (
        !requests_.reserve(op.parts_left)) // no memory: wait here for the first of what this operation needs
        if (test_parts(op))
            return true;
    if (op.count == 0)
        tested_.add(op);
    for (unsigned i = 0; i < op.count; ++i)
        if (op.parts[i].of)
            requests_.add(op.parts[i]);
    under_way_.fetch_add(1, std::memory_order_seq_cst); // pairs with progress_service::prepare_sleep
    the_progress_service().wake_sleeper();
    return false;
}

// Under the lock.
void engine::test(completed_operations &complete) noexcept {
    requests_.test(complete);
    if (!tested_.empty())
        tested_.test(complete);
}

// Starts what has come meanwhile, unlocks, and grants.
void engine::leave(completed_operations &complete) noexcept {
    while (operation *first = lock_.unlock_or_take())
        while (first) {
            operation &each = *first;
            first = each.next;
            if (begin(each) || start_testing(each))
                complete.add(each);
        }
    if (!complete.empty())
        complete.notify_all();
}

void engine::leave() noexcept {
    completed_operations complete;
    leave(complete);
}

void engine::describe_silence(int &rank, char *text, std::size_t size) noexcept {
    const entry here(*this);
    FULT_BELOW(Comm_rank)(MPI_COMM_WORLD, &rank);
    peer_counts peers;
    requests_.for_each_operation([&](const operation &op) { peers.add(op); });
    tested_.for_each([&](const operation &op) { peers.add(op); });
    peers.describe(text, size);
}

bool engine::poll() noexcept {
    if (under_way_.load(std::memory_order_relaxed) == 0 || lock_.is_held_here() || !lock_.try_lock_to_poll())
        return false;
    completed_operations complete;
    counters_.count_poll();
    test(complete);
    const unsigned ended = complete.count();
    if (ended != 0)
        count_end(ended);
    leave(complete);
    return ended != 0;
}

// MPI has called the caller, a function of the program, and is not to be left before it returns.
int engine::finish_inside(operation &op) noexcept {
    op.error = op.start();
    if (op.error == MPI_SUCCESS)
        while (!test_one(op))
            yield_if_crowded();
    return op.error;
}

int engine::run(operation &op) noexcept {
    fult::detail::check_not_forked();
    if (lock_.is_held_here()) [[unlikely]]
        return finish_inside(op);
    if (lock_.lock_or_push(op)) {
        const bool complete = begin(op) || test_while_alone(op) || start_testing(op);
        leave();
        if (complete) {
            if (!in_task())
                poll(); // no worker may do it for operations that are unattended
            return op.error;
        }
    }
    wait(op);
    return op.error;
}

void engine::run_unattended(operation &op) noexcept {
    fult::detail::check_not_forked();
    if (lock_.is_held_here()) [[unlikely]] {
        finish_inside(op);
        return op.notify();
    }
    the_progress_service().ensure_added(); // without a runtime, the next blocking call polls
    if (!lock_.lock_or_push(op))
        return;
    completed_operations complete;
    if (begin(op) || start_testing(op))
        complete.add(op);
    leave(complete);
}

void engine::wait(operation &op) noexcept {
    if (poll_until_complete(op))
        return;
    counters_.count_wait();
    const statistics::wait_time time(counters_, op.facts.name);
    if (in_task())
        wait_suspended(op);
    else
        wait_on_thread(op);
    FULT_ASSERT(op.caller.is_granted());
}

// For about the time of a round trip, and only while the worker has nothing else to run.
bool engine::poll_until_complete(operation &op) noexcept {
    if (!in_task() || fult::detail::others_ready())
        return op.caller.is_granted();
    fult::detail::poller steps;
    while (!op.caller.is_granted() && steps.step()) { // a step may suspend
        attended_.fetch_add(1, std::memory_order_relaxed);
        for (unsigned i = 0; i < polls_per_step && !op.caller.is_granted(); ++i)
            if (!poll())
                yield_if_crowded();
        attended_.fetch_sub(1, std::memory_order_relaxed);
    }
    return op.caller.is_granted();
}

void engine::wait_suspended(operation &op) noexcept {
    if (the_progress_service().ensure_added()) {
        op.caller.wait_at_once({op.facts.name, &op.facts, &describe_wait});
        return;
    }
    while (!op.caller.is_granted()) // the workers cannot poll for it: it does so itself
        if (!poll())
            this_task::yield();
    op.caller.wait_at_once({op.facts.name}); // returns at once
}

void engine::wait_on_thread(operation &op) noexcept {
    pause_length pauses;
    for (unsigned looks = 1; !op.caller.is_granted(); ++looks) {
        if (poll()) {
            looks = 0;
            continue;
        }
        yield_if_crowded();
        if (looks < polls_of_thread)
            continue;
        if (const std::int64_t pause = next_pause(pauses); pause != 0)
            sleep_for(pause);
    }
}

} // namespace fult::mpi
