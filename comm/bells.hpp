// Waking ranks of the same host that sleep. Providers of shared memory have no wait object (libfabric's shm),
// so a rank that goes to sleep says so in a page that the others see, and who sends to it then rings: a
// datagram on a socket that it sleeps on. Costs a sender one look at a line that seldom changes. The socket
// has a name in /dev/shm, for this user alone, until all have connected to it; abstract names are open to
// everybody.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

namespace fult::comm::detail {

class doorbells {
  public:
    // `name`: of this rank, unique on the host. Throws std::system_error.
    explicit doorbells(const std::string &name, int size);
    doorbells(const doorbells &) = delete;
    doorbells &operator=(const doorbells &) = delete;
    ~doorbells();

    // The names of the others by rank, empty for those of other hosts and for this one. Afterwards, when all
    // ranks have done so, hide() takes the names of the page and the socket out of the file system. Throws
    // std::system_error.
    void connect(std::span<const std::string> names);
    void hide() noexcept;

    // After a message was put where that rank finds it.
    void ring(int rank) noexcept {
        const page *there = others_[static_cast<std::size_t>(rank)].there;
        if (there && there->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
            ring_slowly(rank);
    }

    // From here on others ring; look for messages once more before sleeping on descriptor().
    void begin_sleep() noexcept;
    void end_sleep() noexcept;
    int descriptor() const noexcept { return socket_; }
    // Whether no ring can be missed: else sleep for a short time only.
    bool reliable() const noexcept { return fenced_; }

  private:
    struct page {
        std::atomic<unsigned> asleep{0};
    };
    // A bell of another rank.
    struct other {
        const page *there = nullptr;
        int socket = -1; // connected to its own
    };
    page *map(const std::string &name, bool create);
    void listen();
    void close_all() noexcept;
    void ring_slowly(int rank) noexcept;

    std::string name_;
    std::vector<other> others_; // by rank
    page *own_ = nullptr;
    int socket_ = -1;
    bool fenced_ = false;
    bool hidden_ = false;
};

} // namespace fult::comm::detail
