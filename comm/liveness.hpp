// Whether the other ranks live: ranks of this host by their process, those of others by what is heard of
// them. A thread of its own, which sleeps nearly always.
#pragma once

#include <atomic>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace fult::comm::detail {

class device;

class liveness {
  public:
    // processes[rank]: the process of a rank of this host, 0 for one of another host, -1 for this rank
    // itself.
    liveness(device &on, const std::vector<pid_t> &processes, unsigned seconds_of_silence);
    liveness(const liveness &) = delete;
    liveness &operator=(const liveness &) = delete;
    ~liveness();

  private:
    void run() noexcept;

    device &on_;
    struct watched {
        int rank;
        int descriptor; // of its process
    };
    std::vector<watched> processes_;
    std::vector<int> remote_;
    unsigned silence_;
    int end_ = -1; // an eventfd
    std::thread thread_;
};

} // namespace fult::comm::detail
