#include "taskloop.hpp"

#include <algorithm>

namespace fult::omp {

division divide_taskloop(std::uint64_t count, division_by unit, std::uint64_t number,
                         unsigned threads) noexcept {
    FULT_ASSERT(count != 0 && threads != 0);
    if (unit == division_by::threads || (unit == division_by::tasks && number == 0)) {
        unit = division_by::tasks;
        number = std::uint64_t{threads} * 8;
    }
    number = std::max<std::uint64_t>(number, 1);
    if (unit == division_by::strict_grain_size) {
        const std::uint64_t tasks = count / number + (count % number != 0);
        FULT_ASSERT(tasks != 0 && tasks <= count);
        return {tasks, number, 0, count - (tasks - 1) * number};
    }
    std::uint64_t tasks = unit == division_by::grain_size ? count / number : number;
    tasks = std::clamp<std::uint64_t>(tasks, 1, count);
    FULT_ASSERT(tasks <= count, "no task is empty");
    return {tasks, count / tasks, count % tasks, 0};
}

} // namespace fult::omp
