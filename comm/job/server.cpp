#include "comm/job/server.hpp"

#include <poll.h>

#include <fult/runtime.hpp>

#include "comm/base/library_thread.hpp"
#include "comm/device/device.hpp"

namespace fult::comm::detail {
namespace {

// Polls before the dedicated thread sleeps: many if it has a processor of its own, few if it would keep a
// worker from running the task that the last message was for.
constexpr unsigned looks_alone = 2000, looks_among_workers = 20;

} // namespace

server::server(device &device, progress_policy policy) : device_(device) {
    if (device_.transports_empty())
        return;
    if (policy != progress_policy::dedicated) {
        fult::detail::add_service(device_.engine());
        is_service_ = true;
        return;
    }
    device_.sleep().set_dedicated();
    thread_ = std::thread([this] {
        const library_thread here("fult-server");
        run();
    });
}

server::~server() {
    ending_.store(true, std::memory_order_release);
    if (thread_.joinable()) {
        device_.sleep().wake();
        thread_.join();
    }
    if (is_service_)
        fult::detail::remove_service(device_.engine());
}

void server::run() noexcept {
    const unsigned looks =
        processors_at_start() > static_cast<unsigned>(worker_count()) ? looks_alone : looks_among_workers;
    progress_engine &engine = device_.engine();
    unsigned idle = 0;
    while (!ending_.load(std::memory_order_acquire)) {
        if (engine.progress()) {
            idle = 0;
        } else if (++idle < looks) {
            fult::detail::cpu_relax();
        } else if (engine.prepare_sleep()) {
            // Checked again: the wake() of the destructor may have come before the sleep was announced.
            pollfd what{engine.descriptor(), POLLIN, 0};
            if (!ending_.load(std::memory_order_acquire) && ::poll(&what, 1, engine.patience()) == 0)
                engine.count_timeout();
            engine.end_sleep();
        }
    }
}

} // namespace fult::comm::detail
