// Task reductions. The descriptor is the compilers' (words, by index):
//   0 number of variables, 1 bytes of a thread's part, 2 alignment, then the parts' memory, 3 -1 or an
//   allocator, 4 next descriptor, 5 the library's, 6 end of the memory; from 7 on, for each variable:
//   address, offset, spare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp_task.hpp"

namespace fult::omp {

// Allocates the parts of these descriptors, and puts them before those of `list`.
void register_reductions(void *&list, std::uintptr_t *descriptors, unsigned threads);
// Gives descriptors the memory of `with`, which another member has registered for the same variables.
void share_reductions(void *&list, std::uintptr_t *descriptors, const std::uintptr_t *with) noexcept;
void free_reductions(std::uintptr_t *descriptors) noexcept;
// Replaces each of the `count` pointers by the address of this thread's copy; the first `originals` original
// addresses follow them.
void remap_reductions(const omp_task *me, std::size_t count, std::size_t originals, void **pointers);

} // namespace fult::omp
