// The division of a taskloop's iterations into tasks.
#pragma once

#include <cstdint>

#include <fult/detail/assertion.hpp>

namespace fult::omp {

// `tasks` of them; the first `longer` run one iteration more.
struct division {
    std::uint64_t tasks, each, longer, last; // last: iterations of the last task, with a strict grain size

    constexpr std::uint64_t iterations(std::uint64_t task) const noexcept {
        FULT_ASSERT(task < tasks);
        return last != 0 && task == tasks - 1 ? last : each + (task < longer);
    }
};

static_assert(division{3, 2, 1, 0}.iterations(0) == 3 && division{3, 2, 1, 0}.iterations(2) == 2);
static_assert(division{3, 2, 0, 1}.iterations(1) == 2 && division{3, 2, 0, 1}.iterations(2) == 1);

enum class division_by { threads, grain_size, strict_grain_size, tasks };

// count: at least 1.
division divide_taskloop(std::uint64_t count, division_by unit, std::uint64_t number,
                         unsigned threads) noexcept;

} // namespace fult::omp
