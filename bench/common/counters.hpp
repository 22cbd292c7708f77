// Hardware counters of the calling thread through PAPI: instructions and cache misses. Many machines (virtual
// ones above all) have none; then they are "not available" and nothing fails.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace bench {

class counters {
  public:
    static constexpr std::size_t count = 3;
    static constexpr std::array<const char *, count> names{"instructions", "l1_misses", "l2_misses"};

    counters();
    ~counters();
    counters(const counters &) = delete;
    counters &operator=(const counters &) = delete;

    void start();
    void stop();

    // The counts between start and stop; empty if the machine does not count them.
    std::optional<long long> value(std::size_t which) const;

  private:
    [[maybe_unused]] int events_;    // one set of PAPI: it runs only one at a time; unused without PAPI
    std::vector<std::size_t> added_; // which counters are in the set, in its order
    std::array<std::optional<long long>, count> values_{};
};

} // namespace bench
