#include "subjects.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/task_subject.hpp>

#include "omp_task.hpp"

namespace fult::omp {
namespace {

constexpr unsigned max_callers = 4;

// Read by tools/gdb/fult.py, which knows the order of the members. A change of meaning changes the version.
struct debug_table {
    std::uint64_t version = 1;
    const detail::task_ops *ops = &omp_task_ops;
    std::uint64_t function = offsetof(omp_task, function); // offsets in a task:
    std::uint64_t data = offsetof(omp_task, data);
    std::uint64_t flags = offsetof(omp_task, flags);
    std::uint64_t implicit = is_implicit; // a flag
    struct caller {
        std::uintptr_t function = 0;
        std::uint64_t offset = 0; // in the data
    } callers[max_callers];
};
static_assert(std::is_standard_layout_v<debug_table>);

} // namespace

extern "C" {
FULT_API __attribute__((used)) debug_table fult_omp_debug;
}

namespace {

// A part of a task. That may be given back at the same time: its words may have any value.
struct task_part {
    std::uintptr_t function, data;
    std::uint32_t flags;
};
constexpr std::size_t part_begin = offsetof(omp_task, function);
static_assert(offsetof(omp_task, data) - part_begin == offsetof(task_part, data) &&
              offsetof(omp_task, flags) - part_begin == offsetof(task_part, flags));

detail::task_subject find_subject(std::uintptr_t stored) noexcept {
    task_part seen{};
    if (!detail::read_if_mapped(stored + part_begin, &seen, sizeof seen))
        return {};
    for (const debug_table::caller &each : fult_omp_debug.callers)
        if (each.function != 0 && each.function == seen.function &&
            !detail::read_if_mapped(seen.data + each.offset, &seen.function, sizeof seen.function))
            seen.function = 0;
    return {(seen.flags & is_implicit) != 0 ? "OpenMP region" : "OpenMP task",
            detail::at_address<const void>(seen.function)};
}

[[gnu::constructor]] void announce() noexcept { detail::register_subjects(&omp_task_ops, find_subject); }

} // namespace

void find_function_in_data(void (*function)(void *), std::size_t offset) noexcept {
    for (debug_table::caller &each : fult_omp_debug.callers)
        if (each.function == 0) {
            each = {reinterpret_cast<std::uintptr_t>(function), offset};
            return;
        }
    FULT_ASSERT(false, "there is room for the callers of all front ends");
}

} // namespace fult::omp
