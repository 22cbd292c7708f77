#include "apps/support/task_runtime.hpp"
#include "fult_execution.hpp"
#include "program.hpp"

int main(int argc, char **argv) {
    return hpccg::program_main(argc, argv, true, [](const hpccg::command_line &wanted) {
        const fult::runtime runtime = apps::start_runtime(wanted.workers);
        return hpccg::run(hpccg::fult_execution{}, wanted);
    });
}
