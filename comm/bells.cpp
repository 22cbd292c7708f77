#include "comm/bells.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

namespace fult::comm::detail {
namespace {

constexpr std::size_t page_bytes = 4096;

// In the abstract namespace: nothing is left behind.
sockaddr_un address_of(const std::string &name, socklen_t &length) noexcept {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t size = std::min(name.size(), sizeof address.sun_path - 1);
    std::memcpy(address.sun_path + 1, name.data(), size);
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
    return address;
}

// A fence in every thread of every process that has registered: the sleeper pays for the look that senders
// take without one. The same idea as private words have within a process (docs/scheduler.md).
bool register_fence() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

[[noreturn]] void lacks(const std::string &what) {
    throw std::system_error(errno, std::generic_category(), "fult-comm: " + what);
}

} // namespace

doorbells::doorbells(const std::string &name, int size)
    : name_(name), names_(static_cast<std::size_t>(size)), pages_(static_cast<std::size_t>(size)) {
    fenced_ = register_fence();
    socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0)
        lacks("no socket for the doorbell");
    socklen_t length = 0;
    const sockaddr_un address = address_of(name, length);
    if (::bind(socket_, reinterpret_cast<const sockaddr *>(&address), length) != 0) {
        ::close(socket_);
        lacks("the doorbell's socket @" + name + " cannot be bound; does another job have the same name?");
    }
    own_ = map(name, true);
}

doorbells::~doorbells() {
    hide();
    ::munmap(own_, page_bytes);
    for (const page *each : pages_)
        if (each)
            ::munmap(const_cast<page *>(each), page_bytes);
    ::close(socket_);
}

doorbells::page *doorbells::map(const std::string &name, bool create) {
    const std::string path = "/" + name;
    if (create)
        ::shm_unlink(path.c_str()); // of a job that was killed
    const int fd = ::shm_open(path.c_str(), create ? O_RDWR | O_CREAT | O_EXCL : O_RDONLY, 0600);
    if (fd < 0)
        lacks("shared memory " + path + " cannot be opened; is /dev/shm mounted and writable?");
    // Memory behind it at once: without, the first access would end the process.
    if (create && (errno = ::posix_fallocate(fd, 0, page_bytes)) != 0) {
        ::close(fd);
        lacks("shared memory " + path + " cannot grow; is /dev/shm full?");
    }
    void *at = ::mmap(nullptr, page_bytes, create ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED)
        lacks("shared memory " + path + " cannot be mapped");
    return static_cast<page *>(at); // zero bytes: an atomic zero
}

void doorbells::connect(std::span<const std::string> names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        names_[i] = names[i];
        if (!names[i].empty() && names[i] != name_)
            pages_[i] = map(names[i], false);
    }
}

void doorbells::hide() noexcept {
    if (!hidden_)
        ::shm_unlink(("/" + name_).c_str());
    hidden_ = true;
}

void doorbells::ring_slowly(int rank) noexcept {
    const int saved = errno;
    socklen_t length = 0;
    const sockaddr_un address = address_of(names_[static_cast<std::size_t>(rank)], length);
    const char note = 1;
    // Full, or gone: then it is awake, or has ended.
    ::sendto(socket_, &note, 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<const sockaddr *>(&address),
             length);
    errno = saved;
}

void doorbells::begin_sleep() noexcept {
    own_->asleep.store(1, std::memory_order_seq_cst);
    if (fenced_)
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void doorbells::end_sleep() noexcept {
    own_->asleep.store(0, std::memory_order_relaxed);
    char notes[64];
    while (::recv(socket_, notes, sizeof notes, MSG_DONTWAIT) > 0)
        ;
}

} // namespace fult::comm::detail
