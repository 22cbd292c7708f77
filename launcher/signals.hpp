#pragma once

#include <optional>
#include <signal.h>

#include "launcher/start.hpp"

// Signals of fult-run, received through a descriptor. Signals ignored at its start (nohup) remain ignored.
namespace fult::run {

class signals {
  public:
    // Throws std::system_error.
    signals();
    ~signals();
    signals(const signals &) = delete;
    signals &operator=(const signals &) = delete;

    int descriptor() const noexcept { return descriptor_; }
    // The next pending signal.
    std::optional<int> next() noexcept;

    // The state to restore for ranks.
    const original_state &before() const noexcept { return before_; }

  private:
    original_state before_;
    int descriptor_;
};

} // namespace fult::run
