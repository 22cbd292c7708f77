#include <omp.h>

#include "openmp_execution.hpp"
#include "program.hpp"

int main(int argc, char **argv) {
    return hpccg::program_main(argc, argv, true, [](const hpccg::command_line &wanted) {
        const unsigned workers = wanted.workers ? wanted.workers : unsigned(omp_get_max_threads());
        return hpccg::run(hpccg::openmp_execution{workers}, wanted);
    });
}
