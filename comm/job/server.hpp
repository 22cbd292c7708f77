// Progress engine of a device: the workers, or a dedicated kernel thread. Source: section 5.2.1 of Dang's
// dissertation (the dedicated one).
#pragma once

#include <atomic>
#include <thread>

#include <fult/comm/context.hpp>

namespace fult::comm::detail {

class device;

class server {
  public:
    // From now on the device is polled, unless it has no transports.
    server(device &device, progress_policy policy);
    server(const server &) = delete;
    server &operator=(const server &) = delete;
    ~server(); // from now on it is not

  private:
    void run() noexcept;

    device &device_;
    bool is_service_ = false;
    std::atomic<bool> ending_{false};
    std::thread thread_; // the dedicated thread
};

} // namespace fult::comm::detail
