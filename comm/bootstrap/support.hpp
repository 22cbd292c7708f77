#pragma once

#include <chrono>
#include <string>
#include <string_view>

// What the ways of being started have in common.
namespace fult::comm::detail {

// A point in time, and what is left until then.
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

// The number in an environment variable that the launcher sets. Throws bootstrap_error: it is missing, no
// number, or not from `low` to `high`.
int launcher_number(const char *variable, int low, int high);

// Throws bootstrap_error where `descriptor`, read from `variable`, is no open socket, so that a stale
// variable never makes us talk into a file of the program. Marks it as not for programs that this one starts.
void check_launcher_socket(const char *variable, int descriptor);

// Throws bootstrap_error if a contribution is larger than bootstrap_most.
void check_contribution(std::string_view mine);

// Waits until `descriptor` can be read (or written). False: the deadline has passed. Throws bootstrap_error.
bool wait_for(int descriptor, short events, const deadline &until);

// One write to the standard error stream.
void say_why(int rank, std::string_view why) noexcept;

// Ends the process without destructors, which might wait for others. Zero becomes 1: an abort never looks
// like success.
[[noreturn]] void leave(int status) noexcept;

} // namespace fult::comm::detail
