#include "below.hpp"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace fult::mpi {

void *find_below(const char *name) noexcept {
    if (void *const found = ::dlsym(RTLD_NEXT, name))
        return found;
    std::fprintf(
        stderr,
        "fult-mpi: no MPI with %s is loaded behind the layer: link the program with the layer first, and "
        "then with its MPI\n",
        name);
    std::abort();
}

} // namespace fult::mpi
