#include "subjects.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

#include <fult/detail/address.hpp>
#include <fult/detail/assertion.hpp>
#include <fult/detail/task_subject.hpp>

#include "frame.hpp"

namespace fult::omp {
namespace {

constexpr unsigned most_callers = 4;

// Read by tools/gdb/fult.py, which knows the order of the members. A change of meaning changes the version.
struct debug_table {
    std::uint64_t version = 1;
    const detail::task_ops *ops = &frame_ops;
    std::uint64_t function = offsetof(frame, function); // offsets in a frame:
    std::uint64_t data = offsetof(frame, data);
    std::uint64_t flags = offsetof(frame, flags);
    std::uint64_t implicit = is_implicit; // a flag
    struct caller {
        std::uintptr_t function = 0;
        std::uint64_t offset = 0; // in the data
    } callers[most_callers];
};
static_assert(std::is_standard_layout_v<debug_table>);

} // namespace

extern "C" {
FULT_API __attribute__((used)) debug_table fult_omp_debug;
}

namespace {

// A part of a frame. That may be given back at the same time: its words may have any value.
struct frame_part {
    std::uintptr_t function, data;
    std::uint32_t flags;
};
constexpr std::size_t part_begin = offsetof(frame, function);
static_assert(offsetof(frame, data) - part_begin == offsetof(frame_part, data) &&
              offsetof(frame, flags) - part_begin == offsetof(frame_part, flags));

detail::task_subject find_subject(std::uintptr_t stored) noexcept {
    frame_part seen{};
    if (!detail::read_if_mapped(stored + part_begin, &seen, sizeof seen))
        return {};
    for (const debug_table::caller &each : fult_omp_debug.callers)
        if (each.function != 0 && each.function == seen.function &&
            !detail::read_if_mapped(seen.data + each.offset, &seen.function, sizeof seen.function))
            seen.function = 0;
    return {(seen.flags & is_implicit) != 0 ? "OpenMP region" : "OpenMP task",
            detail::at_address<const void>(seen.function)};
}

[[gnu::constructor]] void announce() noexcept { detail::register_subjects(&frame_ops, find_subject); }

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
