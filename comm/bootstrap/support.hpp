#pragma once

#include <chrono>
#include <string>
#include <string_view>

// Common parts of the bootstraps.
namespace fult::comm::detail {

// A point in time, and the time left until then.
class deadline {
  public:
    explicit deadline(std::chrono::milliseconds in) noexcept : at_(std::chrono::steady_clock::now() + in) {}

    // Milliseconds for poll(): never negative, rounded up.
    int left() const noexcept;

  private:
    std::chrono::steady_clock::time_point at_;
};

// "60 s" or "250 ms".
std::string printed(std::chrono::milliseconds time);

// The value of an environment variable set by the launcher. Throws bootstrap_error: it is missing, not a
// number, or not within `low` to `high`.
int launcher_number(const char *variable, int low, int high);

// Throws bootstrap_error if `descriptor`, read from `variable`, is not an open socket, so that a stale
// variable never makes this process write to a file of the program. Sets close-on-exec.
void check_launcher_socket(const char *variable, int descriptor);

// Throws bootstrap_error if a contribution is larger than max_contribution.
void check_contribution(std::string_view contribution);

// Waits until `descriptor` is readable (or writable). False: the deadline has passed. Throws bootstrap_error.
bool wait_for(int descriptor, short events, const deadline &until);

// A single write to standard error.
void write_reason(int rank, std::string_view reason) noexcept;

// Ends the process without running destructors, which might wait for other ranks. Zero becomes 1: an abort
// never looks like success.
[[noreturn]] void leave(int status) noexcept;

} // namespace fult::comm::detail
