#include "debugger.hpp"

#include <cstddef>

#include <fult/detail/address.hpp>
#include <fult/detail/platform.hpp>
#include <fult/detail/wait_record.hpp>

#include "fult/memory/stack.hpp"
#include "fult/scheduler/worker.hpp"
#include "fult/tasks/task.hpp"

namespace {

// Read by tools/gdb/fult.py, which knows the order of the members. A change of meaning changes the version.
struct debug_table {
    std::uint64_t version = 3;
    std::uint64_t workers = 0; // their number; 0: no runtime
    std::uint64_t homes = 0;   // the address of an array of pointers to their homes
    std::uint64_t task_size = sizeof(fult::detail::task);
    std::uint64_t tasks = fult::detail::tasks_offset; // offsets in a home:
    std::uint64_t ready_bytes = fult::detail::ready_bytes_offset;
    std::uint64_t slot_words = fult::detail::slot_words_offset;
    std::uint64_t current = 0;     // the running task's pointer
    std::uint64_t lines = 0;       // number of groups of 512 slots in use in the lower half
    std::uint64_t upper_lines = 0; // and in the upper half, which begins with upper_slot
    std::uint64_t upper_slot = fult::detail::half_slots;
    std::uint64_t state = offsetof(fult::detail::task, state); // offsets in a task:
    std::uint64_t context = offsetof(fult::detail::task, context);
    std::uint64_t stack = offsetof(fult::detail::task, stack);
    std::uint64_t extras = offsetof(fult::detail::task, extras);
    std::uint64_t wait_record = offsetof(fult::detail::task, wait_record);
    std::uint64_t outer = offsetof(fult::detail::task, outer);
    std::uint64_t stack_base = offsetof(fult::detail::stack, base); // offsets in a stack record:
    std::uint64_t stack_size = offsetof(fult::detail::stack, size);
    std::uint64_t name = 0;                                // offset of a std::string in a task's extras
    std::uint64_t ops = offsetof(fult::detail::task, ops); // offsets in a task:
    std::uint64_t storage = offsetof(fult::detail::task, storage);
    std::uint64_t foreign_home = 0; // of the tasks of foreign threads
};

} // namespace

extern "C" {
FULT_API __attribute__((used)) debug_table fult_debug;
}

namespace fult::detail {
namespace {
std::uint64_t distance(const void *to, const void *from) noexcept {
    return address_of(to) - address_of(from);
}
} // namespace

void publish_debug_table(const worker_team &team) noexcept {
    const worker *home = team.homes[0];
    fult_debug.current = distance(&home->current, home);
    fult_debug.lines = distance(home->tasks.address_of_words_used(false), home);
    fult_debug.upper_lines = distance(home->tasks.address_of_words_used(true), home);
    static const task_extras any;
    fult_debug.name = distance(&any.name, &any);
    fult_debug.homes = address_of(team.homes.data());
    fult_debug.foreign_home = address_of(&team.foreign_home());
    fult_debug.workers = team.count();
}

void clear_debug_table() noexcept { fult_debug.workers = 0; }

} // namespace fult::detail
