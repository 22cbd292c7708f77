#pragma once

#include <optional>
#include <signal.h>

#include "comm/run/start.hpp"

// The signals of fult-run come out of a descriptor. Those that were ignored when it was started (nohup) stay
// ignored.
namespace fult::run {

class signals {
  public:
    // Throws std::system_error.
    signals();
    ~signals();
    signals(const signals &) = delete;
    signals &operator=(const signals &) = delete;

    int descriptor() const noexcept { return descriptor_; }
    // The next one that has come.
    std::optional<int> next() noexcept;

    // What ranks get back.
    const original_state &before() const noexcept { return before_; }

  private:
    original_state before_;
    int descriptor_;
};

} // namespace fult::run
