#include "comm/shared/bells.hpp"

#include <cerrno>
#include <cstring>
#include <linux/membarrier.h>
#include <new>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>

#include <fult/detail/assertion.hpp>

#include "comm/base/descriptor_limit.hpp"

namespace fult::comm::detail {
namespace {

constexpr std::size_t page_bytes = 4096;
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "other processes access it");

// fult-run looks here for files that a job has left.
std::string socket_path(const std::string &name) { return "/dev/shm/" + name + ".socket"; }

sockaddr_un address_of(const std::string &path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        throw_shortage("the doorbell's socket " + path, "its name is too long");
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    FULT_ASSERT(address.sun_path[path.size()] == 0);
    return address;
}

int new_socket() {
    const int made = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0)
        throw_shortage("no socket for a doorbell", "raise `ulimit -n`?");
    return made;
}

// A fence in every thread of every process that has registered: it lets senders check the flag without a
// fence, at the sleeper's expense. The same technique as for private words within a process
// (docs/scheduler.md).
bool register_fence() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

// Takes 8 to 20 ms in a process with more than one thread, see fult/base/asymmetric_fence.cpp.
[[gnu::constructor]] void register_at_load() noexcept { register_fence(); }

} // namespace

doorbells::doorbells(const std::string &name, int size)
    : name_(name), socket_name_(socket_path(name)), peers_(static_cast<std::size_t>(size)) {
    fenced_ = register_fence();
    try {
        listen();
        page_memory_ = mapping(create_shared_file(name, page_bytes), 0, page_bytes, name);
        page_ = ::new (page_memory_.at()) page;
    } catch (const std::system_error &) {
        close_all();
        throw;
    }
}

doorbells::~doorbells() { close_all(); }

void doorbells::close_all() noexcept {
    unlink_names();
    for (const peer_bell &each : peers_)
        if (each.socket >= 0)
            ::close(each.socket);
    if (socket_ >= 0)
        ::close(socket_);
}

// The name gets the socket's own mode, less the umask, so that other users can never ring.
void doorbells::listen() {
    socket_ = new_socket();
    const std::string &path = socket_name_;
    const sockaddr_un address = address_of(path);
    ::unlink(path.c_str()); // left by a job that was killed
    if (::fchmod(socket_, S_IRUSR | S_IWUSR) != 0 ||
        ::bind(socket_, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
        throw_shortage("the doorbell's socket " + path + " cannot be bound",
                       "is /dev/shm mounted and writable?");
}

void doorbells::connect(std::span<const std::string> names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].empty() || names[i] == name_)
            continue;
        const file page_of =
            open_shared_file(names[i], access_to_file::read, "has a rank of this host failed?");
        peers_[i].memory = mapping(page_of, 0, page_bytes, names[i], access_to_file::read);
        peers_[i].shared = reinterpret_cast<const page *>(peers_[i].memory.at());
        peers_[i].socket = new_socket();
        const std::string path = socket_path(names[i]);
        const sockaddr_un address = address_of(path);
        if (::connect(peers_[i].socket, reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
            throw_shortage("the doorbell " + path + " of rank " + std::to_string(i) + " does not answer",
                           "has that rank failed?");
    }
}

void doorbells::unlink_names() noexcept {
    if (!names_unlinked_) {
        remove_shared_file(name_);
        ::unlink(socket_name_.c_str());
    }
    names_unlinked_ = true;
}

void doorbells::ring_slowly(int rank) noexcept {
    const int saved = errno;
    const char note = 1;
    // If it fails, the queue is full and the rank awake, or the rank has ended.
    ::send(peers_[static_cast<std::size_t>(rank)].socket, &note, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    errno = saved;
}

void doorbells::begin_sleep() noexcept {
    page_->asleep.store(1, std::memory_order_seq_cst);
    if (fenced_)
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void doorbells::end_sleep() noexcept {
    page_->asleep.store(0, std::memory_order_relaxed);
    char notes[64];
    while (::recv(socket_, notes, sizeof notes, MSG_DONTWAIT) > 0)
        ;
}

} // namespace fult::comm::detail
