// Graph500's search by MPI calls alone. Works with any MPI.
#include "process_ranks.hpp"
#include "program.hpp"

int main(int argc, char **argv) {
    return bfs::program_main(argc, argv, apps::version::processes, [](const bfs::command_line &wanted) {
        bfs::process_ranks ranks;
        return bfs::run(ranks, wanted);
    });
}
