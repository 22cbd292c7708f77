// A job as seen by one of its ranks: its bootstrap, devices, endpoints and failure detection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fult/comm/context.hpp>

#include "comm/base/library_thread.hpp"
#include "comm/bootstrap/bootstrap.hpp"
#include "comm/deadlock/watch.hpp"
#include "comm/device/device.hpp"
#include "comm/device/liveness.hpp"
#include "comm/endpoints/maker.hpp"
#include "comm/job/device_setup.hpp"
#include "comm/job/server.hpp"
#include "comm/shared/bells.hpp"

namespace fult::comm::detail {

// The parts of a device.
struct device_links {
    std::vector<std::unique_ptr<transport>> transports;
    std::vector<int> routes;
    std::uint64_t secret = 0;                    // the job's, the same on all ranks
    std::size_t packet_size = usual_packet_size; // where the options leave it open
};

class job {
  public:
    // Uses the transports that the options select. `begun`: threads started by the bootstrap; the transports'
    // are added.
    job(const options &settings, std::unique_ptr<bootstrap> connection,
        std::unique_ptr<foreign_threads> begun);
    // Uses these transports, which are connected already; for tests.
    job(const options &settings, std::unique_ptr<bootstrap> connection, std::vector<device_links> links);
    ~job();

    const options settings;

  private:
    std::unique_ptr<foreign_threads> threads_; // must outlive boot and the devices

  public:
    std::unique_ptr<bootstrap> boot;

  private:
    std::vector<std::unique_ptr<device>> devices_;
    endpoint_maker endpoints_{devices_};

  public:
    device *first_device = nullptr; // the first one
    endpoint world;

    endpoint make_endpoint(endpoint_options options);
    void barrier();
    bool progress() noexcept;
    bool is_lost(int rank) const noexcept;
    std::uint64_t refused_packets() const noexcept;

  private:
    void end();
    void add_device(device_links links, std::unique_ptr<doorbells> bells);
    void begin();
    void watch_for_deadlocks();
    void serve();
    void progress_until(bool (device::*done)() noexcept) noexcept;
    void wait_for_all();
    bool any_failed() const noexcept;
    void report_missing_ranks(const std::string &text); // once
    void require_none(std::string (device::*left)(), const char *remedy);
    void require_no_endpoints();
    void print_counters() const;

    bool has_reported_ = false;
    std::unique_ptr<liveness> liveness_;
    std::unique_ptr<deadlock_watch> deadlocks_;
    std::vector<std::unique_ptr<server>> servers_;
};

} // namespace fult::comm::detail
