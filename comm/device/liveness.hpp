// Failure detection: ranks of this host are watched by their process, those of other hosts by their signs of
// life. Runs on its own thread, which sleeps most of the time.
#pragma once

#include <atomic>
#include <memory>
#include <poll.h>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace fult::comm::detail {

class device;

class liveness {
  public:
    // processes[rank]: the process of a rank of this host, 0 for one of another host, -1 for this rank.
    // launcher: a descriptor that hangs up when the launcher ends, which ends this process; -1: none. The
    // first device sends and receives signs of life.
    liveness(const std::vector<std::unique_ptr<device>> &devices, const std::vector<pid_t> &processes,
             unsigned seconds_of_silence, int launcher = -1);
    liveness(const liveness &) = delete;
    liveness &operator=(const liveness &) = delete;
    ~liveness();

    // Any thread, never waits: a device has found that rank to have failed; notifies the other devices.
    void spread(int rank) noexcept;

  private:
    std::vector<pollfd> descriptors_to_watch() const;
    void run(std::vector<pollfd> descriptors) noexcept;
    void fail(int rank) noexcept;
    void end(int rank) noexcept;

    const std::vector<std::unique_ptr<device>> &devices_;
    std::vector<std::atomic<bool>> found_dead_;
    std::atomic<bool> ending_{false};
    struct watched {
        int rank;
        int descriptor; // of its process
    };
    std::vector<watched> processes_;
    std::vector<int> remote_;
    unsigned silence_;
    int launcher_;
    int bell_ = -1; // an eventfd that wakes the thread
    std::thread thread_;
};

} // namespace fult::comm::detail
