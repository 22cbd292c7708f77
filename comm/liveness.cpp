#include "comm/liveness.hpp"

#include <cerrno>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "comm/device.hpp"

namespace fult::comm::detail {
namespace {

int open_process(pid_t process) noexcept { return static_cast<int>(::syscall(SYS_pidfd_open, process, 0)); }

// Within the time that means death, so many signs of life are sent.
constexpr unsigned signs = 5;

} // namespace

liveness::liveness(device &on, const std::vector<pid_t> &processes, unsigned seconds_of_silence)
    : on_(on), silence_(seconds_of_silence) {
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
            on_.fail_peer(rank);
        else
            remote_.push_back(rank); // Linux before 5.3: by what is heard
    }
    if (processes_.empty() && remote_.empty())
        return;
    end_ = ::eventfd(0, EFD_CLOEXEC);
    if (end_ < 0)
        throw std::system_error(errno, std::generic_category(),
                                "fult-comm: no descriptor; raise `ulimit -n`");
    thread_ = std::thread([this] { run(); });
    ::pthread_setname_np(thread_.native_handle(), "fult-liveness");
}

liveness::~liveness() {
    if (thread_.joinable()) {
        ::eventfd_write(end_, 1);
        thread_.join();
        ::close(end_);
    }
    for (const watched &each : processes_)
        ::close(each.descriptor);
}

void liveness::run() noexcept {
    std::vector<pollfd> descriptors;
    descriptors.push_back({end_, POLLIN, 0});
    for (const watched &each : processes_)
        descriptors.push_back({each.descriptor, POLLIN, 0});
    const int interval = remote_.empty() ? -1 : static_cast<int>(silence_ * 1000 / signs);
    for (;;) {
        const int count = ::poll(descriptors.data(), descriptors.size(), interval);
        if (descriptors[0].revents != 0)
            return;
        for (std::size_t i = 0; count > 0 && i < processes_.size(); ++i)
            if (descriptors[i + 1].revents != 0) {
                descriptors[i + 1].fd = -1; // no more of it
                on_.progress();             // what it sent before it ended comes first
                on_.fail_peer(processes_[i].rank);
            }
        if (count != 0)
            continue;
        for (const int rank : remote_)
            if (on_.show_life(rank) > signs)
                on_.fail_peer(rank);
        on_.progress();
    }
}

} // namespace fult::comm::detail
