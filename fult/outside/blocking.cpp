#include <cerrno>
#include <system_error>

#include <fult/blocking.hpp>
#include <fult/detail/waiter.hpp>

#include "fult/engine/blocking_pool.hpp"
#include "fult/engine/engine.hpp"

namespace fult::detail {
namespace {

constexpr auto report_after = std::chrono::seconds(10);

struct blocking_call : blocking_request {
    void (*body)(void *) noexcept = nullptr;
    void *argument = nullptr;
    int error = 0;
    bool refused = false; // error holds the reason
    waiter caller;
};

// The caller may resume on a different thread: the compiler must not reuse the address of errno from before.
FULT_OPAQUE void set_errno(int value) noexcept { errno = value; }

void wait_in_queue(blocking_call &call, blocking_pool &pool) noexcept {
    try {
        if (!call.caller.wait_long(wait_limits(steady_clock::now() + report_after),
                                   {"thread for a blocking call"}))
            pool.report_if_waiting(call);
    } catch (const std::system_error &) { // no timers: wait without a report
    }
}

} // namespace

void run_blocking(void (*body)(void *) noexcept, void *argument) {
    blocking_call call;
    call.body = body;
    call.argument = argument;
    call.run = [](blocking_request &request) noexcept {
        auto &mine = static_cast<blocking_call &>(request);
        mine.body(mine.argument);
        mine.error = errno;
    };
    call.finish = [](blocking_request &request) noexcept {
        static_cast<blocking_call &>(request)
            .caller.grant(); // the task, and what lies on its stack, may be gone
    };
    call.refuse = [](blocking_request &request, int error) noexcept {
        auto &mine = static_cast<blocking_call &>(request);
        mine.refused = true;
        mine.error = error;
        mine.caller.grant(); // as above
    };
    blocking_pool &pool = engine_pool();
    if (!pool.submit(call))
        wait_in_queue(call, pool);
    call.caller.wait_long(wait_limits(), {"blocking call"});
    if (call.refused)
        throw_no_thread(call.error);
    set_errno(call.error);
}

} // namespace fult::detail
