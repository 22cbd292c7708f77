// Signal handling is up to the program. Providers of libfabric install handlers: shared-memory providers
// remove their files when the process is killed, and some in Debian's libfabric (libpsm2, libpsm_infinipath)
// print a trace and exit with status 1, from the moment at which they are loaded.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace fult::comm::detail {

// Saves all signal actions and restores them in its destructor.
class signal_guard {
  public:
    signal_guard() noexcept {
        for (int s = 1; s < count; ++s)
            sigaction(s, nullptr, &before_[static_cast<std::size_t>(s)]);
    }
    ~signal_guard() {
        for (int s = 1; s < count; ++s) {
            struct sigaction now;
            const struct sigaction &before = before_[static_cast<std::size_t>(s)];
            if (sigaction(s, nullptr, &now) == 0 && now.sa_sigaction != before.sa_sigaction)
                sigaction(s, &before, nullptr);
        }
    }
    signal_guard(const signal_guard &) = delete;
    signal_guard &operator=(const signal_guard &) = delete;

  private:
    static constexpr int count = 32;
    std::array<struct sigaction, count> before_{};
};

} // namespace fult::comm::detail
