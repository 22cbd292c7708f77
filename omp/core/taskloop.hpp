// The division of a taskloop's iterations into tasks.
#pragma once

#include <cstdint>

namespace fult::omp {

// `tasks` of them; the first `longer` run one iteration more.
struct division {
    std::uint64_t tasks, each, longer, last; // last: iterations of the last task, with a strict grain size

    std::uint64_t iterations(std::uint64_t task) const noexcept {
        return last != 0 && task == tasks - 1 ? last : each + (task < longer);
    }
};

enum class division_by { threads, grain_size, strict_grain_size, tasks };

// count: at least 1.
division divide_taskloop(std::uint64_t count, division_by how, std::uint64_t number,
                         unsigned threads) noexcept;

} // namespace fult::omp
