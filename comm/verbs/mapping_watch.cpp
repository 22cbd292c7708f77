#include "comm/verbs/mapping_watch.hpp"

#include <array>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>

#include "comm/base/library_thread.hpp"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace fult::comm::detail {
namespace {

constexpr std::uintptr_t smallest_page = 4096;
static_assert((smallest_page & (smallest_page - 1)) == 0);

// Without privileges the kernel permits faults in user mode only. Ranges are watched for write-protection
// faults, and none is protected, so there are no faults in either case.
int open_watch() noexcept {
    const int fd = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
    if (fd < 0)
        return -1;
    uffdio_api wanted{};
    wanted.api = UFFD_API;
    wanted.features = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE |
                      UFFD_FEATURE_PAGEFAULT_FLAG_WP;
    if (::ioctl(fd, UFFDIO_API, &wanted) == 0)
        return fd;
    ::close(fd);
    return -1;
}

} // namespace

mapping_watch::mapping_watch(mapping_listener &listener) noexcept : listener_(listener) {
    faults_ = open_watch();
    bell_ = faults_ < 0 ? -1 : ::eventfd(0, EFD_CLOEXEC);
    if (bell_ < 0)
        return;
    try {
        thread_ = std::thread([this] {
            const library_thread here("fult-mappings");
            run();
        });
    } catch (const std::exception &) { // no thread: nothing is watched
        ::close(bell_);
        bell_ = -1;
    }
}

// Closing the descriptor releases the threads that wait for their events to be read.
mapping_watch::~mapping_watch() {
    if (thread_.joinable()) {
        ending_.store(true, std::memory_order_release); // pairs with run
        ::eventfd_write(bell_, 1);
        thread_.join();
    }
    if (faults_ >= 0)
        ::close(faults_);
    if (bell_ >= 0)
        ::close(bell_);
}

bool mapping_watch::watch(const void *base, std::size_t size) noexcept {
    if (bell_ < 0 || size == 0)
        return false;
    const std::uintptr_t begin = fult::detail::address_of(base) & ~(smallest_page - 1);
    const std::uintptr_t end =
        (fult::detail::address_of(base) + size + smallest_page - 1) & ~(smallest_page - 1);
    FULT_ASSERT(begin < end);
    uffdio_register what{};
    what.range = {begin, end - begin};
    what.mode = UFFDIO_REGISTER_MODE_WP;
    return ::ioctl(faults_, UFFDIO_REGISTER, &what) == 0;
}

// Under the listener's lock. Returns false if there is no event.
bool mapping_watch::read_events() noexcept {
    std::array<uffd_msg, 16> events;
    const ssize_t size = ::read(faults_, events.data(), sizeof events);
    if (size <= 0)
        return false;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size) / sizeof(uffd_msg); ++i)
        switch (events[i].event) {
        case UFFD_EVENT_UNMAP:
        case UFFD_EVENT_REMOVE:
            listener_.unmapped(events[i].arg.remove.start, events[i].arg.remove.end);
            break;
        case UFFD_EVENT_REMAP:
            listener_.unmapped(events[i].arg.remap.from, events[i].arg.remap.from + events[i].arg.remap.len);
            break;
        default:
            break;
        }
    return true;
}

void mapping_watch::run() noexcept {
    for (;;) {
        std::array<pollfd, 2> what{pollfd{faults_, POLLIN, 0}, pollfd{bell_, POLLIN, 0}};
        ::poll(what.data(), what.size(), -1);
        if (ending_.load(std::memory_order_acquire)) // pairs with the destructor
            return;
        const std::lock_guard hold(listener_);
        while (read_events()) {
        }
    }
}

} // namespace fult::comm::detail
