// Calls of fult/comm.h in the acts: endpoints of C++ seen from C, and the statuses of calls.
#pragma once

#include <string>

#include <fult/comm.h>

#include "comm/c_api/objects.hpp"
#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {

// An endpoint of C++, as the calls in C take it.
class as_in_c {
  public:
    explicit as_in_c(endpoint &it) noexcept : it_(it) {}
    operator fult_comm_endpoint_t() noexcept { return &it_; }

  private:
    fult_comm_endpoint it_;
};

inline void expect_status(const scene &in, const char *call, int status, int wanted) {
    in.expect(status == wanted, std::string(call) + ": status " + std::to_string(status) + " instead of " +
                                    std::to_string(wanted) + ": " + fult_comm_error_text());
}

// A status of a call with that rank; false: its death has ended the call, which it may.
inline bool went_well(const scene &in, int partner, const char *call, int status) {
    if (status == FULT_SUCCESS)
        return true;
    in.expect(status == FULT_COMM_ERR_PEER_FAILED && in.may_be_lost(partner),
              std::string(call) + " with rank " + std::to_string(partner) + ": status " +
                  std::to_string(status) + ": " + fult_comm_error_text());
    in.expect(*fult_comm_error_text() != '\0', std::string(call) + " failed without a reason");
    in.expect(in.me.has_failed(in.victim), "a peer has failed, but the rank is not known as failed");
    return false;
}

// True if the context is one of the C interface: then it also makes endpoints and regions.
inline bool is_in_c() noexcept { return detail::the_context() != nullptr; }

// Calls with wrong arguments, which change nothing.
void refuse_in_c(actor &by, endpoint &through);

} // namespace fult::comm::testing
