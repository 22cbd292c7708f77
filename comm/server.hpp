// Who makes a device's progress: the workers, or a kernel thread beside them.
// Source: section 5.2.1 of Dang's dissertation (the dedicated one).
#pragma once

#include <atomic>
#include <thread>

#include <fult/comm/context.hpp>

namespace fult::comm::detail {

class device;

class server {
  public:
    // From here on somebody polls the device, unless it has no transports.
    server(device &on, server_policy how);
    server(const server &) = delete;
    server &operator=(const server &) = delete;
    ~server(); // from here on nobody does

  private:
    void run() noexcept;

    device &on_;
    bool is_service_ = false;
    std::atomic<bool> ending_{false};
    std::thread thread_; // the dedicated one
};

} // namespace fult::comm::detail
