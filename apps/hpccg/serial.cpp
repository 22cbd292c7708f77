#include "program.hpp"
#include "serial_execution.hpp"

int main(int argc, char **argv) {
    return hpccg::program_main(argc, argv, false, [](const hpccg::command_line &wanted) {
        return hpccg::run(hpccg::serial_execution{}, wanted);
    });
}
