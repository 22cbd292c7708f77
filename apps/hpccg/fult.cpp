#include "fult_execution.hpp"
#include "program.hpp"

int main(int argc, char **argv) {
    return hpccg::program_main(argc, argv, true, [](const hpccg::command_line &wanted) {
        fult::options options = fult::read_options();
        if (wanted.workers)
            options.workers = wanted.workers;
        fult::runtime runtime(options);
        return hpccg::run(hpccg::fult_execution{}, wanted);
    });
}
