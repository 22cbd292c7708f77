// Triangular systems by tasks of FULT, on any number of ranks.
#include "apps/support/task_runtime.hpp"
#include "program.hpp"
#include "task_ranks.hpp"

int main(int argc, char **argv) {
    return sptrsv::program_main(argc, argv, apps::version::tasks, [](const sptrsv::command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        fult::comm::context context;
        sptrsv::task_ranks ranks(context);
        return sptrsv::run(ranks, wanted);
    });
}
