// Barnes and Hut's algorithm on tasks of FULT, on one rank or on several with their global memory.
#include "apps/support/task_runtime.hpp"
#include "program.hpp"
#include "task_ranks.hpp"

int main(int argc, char **argv) {
    using namespace barnes_hut;
    return program_main(argc, argv, apps::version::tasks, [](const command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        fult::comm::context context;
        task_ranks ranks(context, wanted);
        return run(ranks, wanted);
    });
}
