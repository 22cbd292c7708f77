#include "comm/device/liveness.hpp"

#include <cerrno>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "comm/base/library_thread.hpp"
#include "comm/device/device.hpp"
#include "fult/base/no_descriptor.hpp"

namespace fult::comm::detail {
namespace {

int open_process(pid_t process) noexcept { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

// Signs of life sent within the time of silence that means failure.
constexpr unsigned signs = 5;

// No process is left to end this rank or to read its output: a process that its launcher has lost must not
// remain.
[[noreturn]] void end_without_launcher() noexcept {
    constexpr std::string_view text =
        "fult-comm: fult-run has ended before its ranks; this one ends as well\n";
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
        ::_exit(1); // its reader has ended with the launcher
    ::_exit(1);
}

} // namespace

liveness::liveness(const std::vector<std::unique_ptr<device>> &devices, const std::vector<pid_t> &processes,
                   unsigned seconds_of_silence, int launcher)
    : devices_(devices), found_dead_(processes.size()), silence_(seconds_of_silence), launcher_(launcher) {
    for (std::size_t i = 0; i < processes.size(); ++i) {
        const int rank = static_cast<int>(i);
        if (processes[i] == 0)
            remote_.push_back(rank);
        if (processes[i] <= 0)
            continue;
        const int fd = open_process(processes[i]);
        if (fd >= 0)
            processes_.push_back({rank, fd});
        else if (errno == ESRCH)
            fail(rank);
        else
            remote_.push_back(rank); // Linux before 5.3: use signs of life
    }
    if (processes_.empty() && remote_.empty())
        return;
    bell_ = ::eventfd(0, EFD_CLOEXEC);
    if (bell_ < 0)
        fult::detail::throw_no_descriptor(
            errno, "fult-comm: no descriptor to end the thread that watches other ranks", "eventfd2");
    thread_ = std::thread([this, descriptors = descriptors_to_watch()]() mutable {
        const library_thread here("fult-liveness");
        run(std::move(descriptors));
    });
}

liveness::~liveness() {
    if (thread_.joinable()) {
        ending_.store(true, std::memory_order_release);
        ::eventfd_write(bell_, 1);
        thread_.join();
        ::close(bell_);
    }
    for (const watched &each : processes_)
        ::close(each.descriptor);
}

void liveness::fail(int rank) noexcept {
    for (const auto &each : devices_)
        each->fail_peer(rank);
}

// What it sent before is handled at once, as far as there is room for it.
void liveness::end(int rank) noexcept {
    for (const auto &each : devices_) {
        each->end_peer(rank);
        while (!each->is_lost(rank) && each->progress()) {
        }
    }
}

void liveness::spread(int rank) noexcept {
    found_dead_[static_cast<std::size_t>(rank)].store(true, std::memory_order_release); // pairs with run
    if (bell_ >= 0)
        ::eventfd_write(bell_, 1);
}

// The bell, the processes, the launcher.
std::vector<pollfd> liveness::descriptors_to_watch() const {
    std::vector<pollfd> all;
    all.push_back({bell_, POLLIN, 0});
    for (const watched &each : processes_)
        all.push_back({each.descriptor, POLLIN, 0});
    all.push_back({launcher_, 0, 0}); // only for its hang-up
    return all;
}

void liveness::run(std::vector<pollfd> descriptors) noexcept {
    const int interval = remote_.empty() ? -1 : static_cast<int>(silence_ * 1000 / signs);
    for (;;) {
        const int count = ::poll(descriptors.data(), descriptors.size(), interval);
        if (ending_.load(std::memory_order_acquire))
            return;
        if ((descriptors.back().revents & (POLLHUP | POLLERR)) != 0)
            end_without_launcher();
        if (descriptors[0].revents != 0) {
            eventfd_t rings = 0;
            ::eventfd_read(bell_, &rings);
            for (std::size_t rank = 0; rank < found_dead_.size(); ++rank)
                if (found_dead_[rank].exchange(false, std::memory_order_acquire)) // pairs with spread
                    fail(static_cast<int>(rank));
        }
        for (std::size_t i = 0; count > 0 && i < processes_.size(); ++i)
            if (descriptors[i + 1].revents != 0) {
                descriptors[i + 1].fd = -1; // ignored from now on
                end(processes_[i].rank);
            }
        if (count != 0)
            continue;
        for (const int rank : remote_)
            if (devices_.front()->send_heartbeat(rank) > signs)
                fail(rank);
        devices_.front()->progress();
    }
}

} // namespace fult::comm::detail
