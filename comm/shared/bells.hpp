// Wakes sleeping ranks of the same host. Providers of shared memory have no wait object (libfabric's shm). So
// a rank that goes to sleep sets a flag in a page that the others map, and senders to it then ring its bell:
// a datagram to a socket that it sleeps on. A sender pays for reading a cache line that seldom changes. Until
// all have connected, the socket has a name in /dev/shm, accessible to this user only; abstract names are
// open to all users.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "comm/shared/shared_file.hpp"

namespace fult::comm::detail {

class doorbells {
  public:
    // `name`: this rank's, unique on the host. Throws std::system_error.
    explicit doorbells(const std::string &name, int size);
    doorbells(const doorbells &) = delete;
    doorbells &operator=(const doorbells &) = delete;
    ~doorbells();

    // The other ranks' names by rank, empty for other hosts and for this rank. When all ranks have connected,
    // unlink_names() removes the names of page and socket from the file system. Throws std::system_error.
    void connect(std::span<const std::string> names);
    void unlink_names() noexcept;

    // To be called after a message was put where that rank finds it.
    void ring(int rank) noexcept {
        const page *shared = peers_[static_cast<std::size_t>(rank)].shared;
        if (shared && shared->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
            ring_slowly(rank);
    }

    // From now on others ring. Poll for messages once more before sleeping on descriptor().
    void begin_sleep() noexcept;
    void end_sleep() noexcept;
    int descriptor() const noexcept { return socket_; }
    // True if no ring can be missed; else sleep for a short time only.
    bool reliable() const noexcept { return fenced_; }

  private:
    struct page {
        std::atomic<unsigned> asleep{0};
    };
    // A bell of another rank.
    struct peer_bell {
        const page *shared = nullptr;
        int socket = -1; // connected to its own
        mapping memory;
    };
    void listen();
    void close_all() noexcept;
    void ring_slowly(int rank) noexcept;

    std::string name_, socket_name_; // so that unlink_names needs no memory
    std::vector<peer_bell> peers_;   // by rank
    mapping page_memory_;
    page *page_ = nullptr;
    int socket_ = -1;
    bool fenced_ = false;
    bool names_unlinked_ = false;
};

} // namespace fult::comm::detail
