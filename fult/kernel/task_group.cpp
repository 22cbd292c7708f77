#include <fult/task_group.hpp>

#include "fult/base/check.hpp"

namespace fult {

task_group::task_group(std::stop_token parent) : parent_(std::move(parent)) {
    if (parent_.stop_possible())
        on_parent_stop_.emplace(parent_, stopper{&core_});
}

void task_group::wait() {
    core_.wait_until_empty();
    std::exception_ptr error = core_.take_error();
    core_.reset();
    if (parent_.stop_requested())
        core_.request_stop(); // its callback may have run before the reset
    if (error)
        std::rethrow_exception(std::move(error));
}

task_group::~task_group() {
    const bool unwinding = core_.is_left_by_exception();
    if (unwinding)
        core_.request_stop();
    core_.wait_until_empty();
    const std::exception_ptr error = core_.take_error();
    if (!error || unwinding)
        return;
    constexpr const char *remedy = "call wait() before its end, or catch what the task throws";
    try {
        std::rethrow_exception(error);
    } catch (const std::exception &thrown) {
        detail::fatal("task_group", "one of its tasks ended with an exception: %s; %s", thrown.what(),
                      remedy);
    } catch (...) {
        detail::fatal("task_group",
                      "one of its tasks ended with an exception other than a std::exception; %s", remedy);
    }
}

} // namespace fult
