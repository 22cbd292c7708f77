// A job as seen by one of its ranks: its bootstrap, devices, endpoints and failure detection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fult/comm/context.hpp>

#include "comm/base/own_thread.hpp"
#include "comm/bootstrap/bootstrap.hpp"
#include "comm/deadlock/watch.hpp"
#include "comm/device/device.hpp"
#include "comm/device/liveness.hpp"
#include "comm/endpoints/endpoint_state.hpp"
#include "comm/job/server.hpp"
#include "comm/shared/bells.hpp"

namespace fult::comm::detail {

// The parts of a device.
struct device_links {
    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes;
    std::uint64_t secret = 0; // the job's, the same on all ranks
};

class job {
  public:
    // Uses the transports that the options select. `begun`: threads started by the bootstrap; the transports'
    // are added.
    job(const options &wanted, std::unique_ptr<bootstrap> started_by, std::unique_ptr<others_threads> begun);
    // Uses these transports, which are connected already; for tests.
    job(const options &wanted, std::unique_ptr<bootstrap> started_by, std::vector<device_links> links);
    ~job();

    const options wanted;

  private:
    std::unique_ptr<others_threads> begun_; // must outlive boot and the devices

  public:
    std::unique_ptr<bootstrap> boot;

  private:
    std::vector<std::unique_ptr<device>> devices_;

  public:
    device *on = nullptr; // the first one
    endpoint world;

    endpoint make_endpoint(endpoint_options how);
    void barrier();
    bool progress() noexcept;
    bool is_lost(int rank) const noexcept;
    std::uint64_t strange_packets() const noexcept;

  private:
    void end();
    void add_device(device_links links, std::unique_ptr<doorbells> bells);
    void begin();
    void watch_for_deadlocks();
    void serve();
    void until(bool (device::*done)() noexcept) noexcept;
    void wait_for_all();
    bool any_failed() const noexcept;
    void say_who_is_missing(const std::string &text); // once
    void require_none(std::string (device::*left)(), const char *remedy);
    void require_no_endpoints();

    std::uint16_t next_endpoint_ = 0;
    bool has_complained_ = false;
    endpoint control_; // used by the library itself
    std::unique_ptr<liveness> watch_;
    std::unique_ptr<deadlock_watch> deadlocks_;
    std::vector<std::unique_ptr<server>> servers_;
};

} // namespace fult::comm::detail
