// Graph500's search in one thread.
#include "program.hpp"
#include "serial_ranks.hpp"

int main(int argc, char **argv) {
    return bfs::program_main(argc, argv, apps::version::serial, [](const bfs::command_line &wanted) {
        bfs::serial_ranks ranks;
        return bfs::run(ranks, wanted);
    });
}
