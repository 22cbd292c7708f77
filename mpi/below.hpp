// The functions of the MPI below the layer.
//
// The layer has the names of both kinds, MPI_ and PMPI_: Fortran's bindings and tools of the profiling
// interface enter by the second one. So it finds MPI's own functions behind its own in the order of the
// libraries.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "abi.hpp"

namespace fult::mpi {

// Of a function of the MPI that was loaded after the layer. Ends the program if there is none.
void *find_below(const char *name) noexcept;

template <std::size_t Size> struct function_name {
    consteval function_name(const char (&name)[Size]) { std::copy_n(name, Size, text); }
    char text[Size];
};

template <class Function, function_name Name> class below;
template <class Result, class... Arguments, function_name Name> class below<Result (*)(Arguments...), Name> {
  public:
    static Result call(Arguments... arguments) { return found.load(std::memory_order_relaxed)(arguments...); }

  private:
    static Result find(Arguments... arguments) {
        const auto it = reinterpret_cast<Result (*)(Arguments...)>(find_below(Name.text));
        found.store(it, std::memory_order_relaxed); // code, and the same by each thread
        return it(arguments...);
    }
    static inline constinit std::atomic<Result (*)(Arguments...)> found{&find};
};

} // namespace fult::mpi

// FULT_BELOW(Recv)(buffer, ...) calls MPI's own PMPI_Recv.
#define FULT_BELOW(name) (fult::mpi::below<decltype(&PMPI_##name), "PMPI_" #name>::call)
