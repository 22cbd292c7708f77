// Makes the endpoints of a context, and gives them their ids.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <fult/comm/endpoint.hpp>

#include "comm/device/device.hpp"
#include "comm/device/endpoint_state.hpp"
#include "comm/endpoints/endpoint_ids.hpp"

namespace fult::comm::detail {

class endpoint_maker {
  public:
    explicit endpoint_maker(const std::vector<std::unique_ptr<device>> &devices) noexcept
        : devices_(devices) {}
    endpoint_maker(const endpoint_maker &) = delete;
    endpoint_maker &operator=(const endpoint_maker &) = delete;

    // Once, before any other: makes the library's own two endpoints, for the job and for this object.
    void begin();
    endpoint &control() noexcept { return control_; }
    void end() noexcept; // no endpoint is made afterwards

    endpoint make(endpoint_options options);
    endpoint make_subset(const endpoint_state &parent, std::span<const int> members, std::int64_t tag,
                         endpoint_options options);

  private:
    device &device_of(const endpoint_options &options, const char *call) const;
    endpoint attach(device &device, unsigned pair, endpoint_options options, const endpoint_origin &from);

    const std::vector<std::unique_ptr<device>> &devices_;
    endpoint_ids ids_;
    endpoint control_;
    endpoint agreements_; // id 1
};

} // namespace fult::comm::detail
