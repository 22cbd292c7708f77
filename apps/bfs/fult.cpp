// Graph500's search on tasks of FULT and messages between them.
#include <fult/comm.hpp>

#include "apps/support/task_runtime.hpp"
#include "program.hpp"
#include "task_ranks.hpp"

int main(int argc, char **argv) {
    return bfs::program_main(argc, argv, apps::version::tasks, [](const bfs::command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        fult::comm::context context;
        bfs::task_ranks ranks(context.world(), wanted.searchers);
        return bfs::run(ranks, wanted);
    });
}
