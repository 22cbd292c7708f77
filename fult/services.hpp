// The services of a runtime (detail/service.hpp), and the sleep of the worker that watches for them.
#pragma once

#include <atomic>

#include <fult/detail/service.hpp>

#include "parker.hpp"

namespace fult::detail {

class services {
  public:
    static constexpr unsigned capacity = 8;

    services() = default;
    services(const services &) = delete;
    services &operator=(const services &) = delete;

    bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

    bool add(service &s); // false: no room
    void remove(service &s) noexcept;

    // Polls all; whether any did something.
    bool poll() noexcept;

    // Sleeps until a post after `prepared`, or until some service did something; at once where another
    // worker watches already (false) or something is there.
    bool watch(parker &sleep, std::uint32_t prepared) noexcept;

  private:
    struct place {
        std::atomic<service *> who{nullptr};
        std::atomic<unsigned> inside{0}; // threads in one of its functions
        service *enter() noexcept;       // null: nobody is there; else leave follows
        void leave() noexcept;
    };
    bool sleep_once(parker &sleep, std::uint32_t prepared) noexcept;

    place places_[capacity];
    std::atomic<unsigned> count_{0};
    std::atomic<bool> watched_{false};
};

} // namespace fult::detail
