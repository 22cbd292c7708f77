// Time, medians, and values that the optimiser must not drop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

// Seconds since some fixed moment.
inline double now() noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds that the call takes.
template <class Body> double timed(Body &&body) {
    const double start = now();
    std::forward<Body>(body)();
    return now() - start;
}

inline double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Makes the compiler believe that the value is used, and that it may have changed.
template <class Value> inline void keep(Value &value) noexcept {
    if constexpr (std::is_integral_v<Value>)
        asm volatile("" : "+r"(value));
    else
        asm volatile("" : "+m"(value));
}

} // namespace bench
