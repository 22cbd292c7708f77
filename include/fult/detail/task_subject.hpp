// What a task is for, in reports: a library that runs tasks of its own kind on the runtime registers a
// function that finds it. Internal: for libraries of this project that are built on the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include <fult/detail/platform.hpp>

namespace fult::detail {

struct task_ops;

struct task_subject {
    const char *kind = nullptr;     // "OpenMP task"; null: unknown
    const void *function = nullptr; // the function in the program's source; null: unknown
};

// `stored` was the first word of the storage of a task whose operations were the registered ones. The task
// may have ended since, so it is only read by read_if_mapped. Called from any thread; must not suspend.
using subject_finder = task_subject (*)(std::uintptr_t stored) noexcept;

// For all tasks with these operations. One library registers, once.
FULT_API void register_subjects(const task_ops *ops, subject_finder find) noexcept;

// Copies what another thread may write or unmap at the same time. Returns false if it is not mapped, or if
// the system does not allow a process to copy from itself.
FULT_API bool read_if_mapped(std::uintptr_t from, void *to, std::size_t bytes) noexcept;

} // namespace fult::detail
