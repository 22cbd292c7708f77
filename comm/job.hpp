// A job as one of its ranks sees it: who started it, the device, the endpoints, and whether the others live.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fult/comm/context.hpp>

#include "comm/bootstrap/bootstrap.hpp"
#include "comm/device.hpp"
#include "comm/endpoint_state.hpp"
#include "comm/liveness.hpp"

namespace fult::comm::detail {

class job {
  public:
    // As the options say, over the transports that reach the others.
    job(const options &wanted, std::unique_ptr<bootstrap> started_by);
    // Over these transports, for tests: connected already.
    job(const options &wanted, std::unique_ptr<bootstrap> started_by,
        std::vector<std::unique_ptr<transport>> transports, std::vector<int> routes);
    ~job();

    const options wanted;
    std::unique_ptr<bootstrap> boot;
    std::unique_ptr<device> on;
    endpoint world;

    endpoint make_endpoint(endpoint_options how);
    void barrier();

  private:
    void begin(std::vector<std::unique_ptr<transport>> transports, std::vector<int> routes);
    void serve();
    void wait_for_all();

    std::uint16_t next_endpoint_ = 0;
    endpoint control_; // of the library itself
    std::unique_ptr<liveness> watch_;
    bool is_service_ = false;
    std::atomic<bool> ending_{false};
    std::thread server_; // the dedicated one
};

} // namespace fult::comm::detail
