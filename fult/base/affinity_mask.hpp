// The processors on which the calling thread may run, of a machine of any size.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <sched.h>
#include <vector>

namespace fult::detail {

// Their numbers, as in sched_setaffinity; empty if unknown. Throws std::bad_alloc.
inline std::vector<unsigned> affinity_mask() {
    struct free_mask {
        void operator()(cpu_set_t *mask) const noexcept { CPU_FREE(mask); }
    };
    std::vector<unsigned> processors;
    // The kernel requires space for all possible processors.
    for (std::size_t room = 1024; room <= std::size_t{1} << 20 && processors.empty(); room *= 4) {
        const std::unique_ptr<cpu_set_t, free_mask> mask(CPU_ALLOC(room));
        if (!mask)
            throw std::bad_alloc();
        const std::size_t bytes = CPU_ALLOC_SIZE(room);
        if (::sched_getaffinity(0, bytes, mask.get()) == 0)
            for (std::size_t i = 0; i < room; ++i)
                if (CPU_ISSET_S(i, bytes, mask.get()))
                    processors.push_back(static_cast<unsigned>(i));
    }
    return processors;
}

} // namespace fult::detail
