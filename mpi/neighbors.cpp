// What one MPI does differently in the nonblocking forms of calls to neighbors.
#include <memory>
#include <new>

#include "calls.hpp"
#include "own.hpp"

namespace fult::mpi::own {

bool has_a_neighbor_twice([[maybe_unused]] MPI_Comm comm) noexcept {
#ifdef OPEN_MPI
    const engine::entry here(the_engine());
    int kind = MPI_UNDEFINED, dimensions = 0;
    if (FULT_BELOW(Topo_test)(comm, &kind) != MPI_SUCCESS || kind != MPI_CART ||
        FULT_BELOW(Cartdim_get)(comm, &dimensions) != MPI_SUCCESS || dimensions <= 0)
        return false;
    const auto count = static_cast<std::size_t>(dimensions);
    const std::unique_ptr<int[]> numbers(new (std::nothrow) int[3 * count]);
    if (!numbers)
        return true; // the call itself is right in any case
    int *const lengths = numbers.get(), *const periods = lengths + count;
    if (FULT_BELOW(Cart_get)(comm, dimensions, lengths, periods, periods + count) != MPI_SUCCESS)
        return false;
    for (std::size_t i = 0; i < count; ++i)
        if (periods[i] != 0 && lengths[i] <= 2)
            return true;
#endif
    return false;
}

} // namespace fult::mpi::own
