#include "../../apps/hpccg/serial_execution.hpp"
#include "common/serial_version.hpp"
#include "hpccg/hpccg.hpp"

int main(int argc, char **argv) {
    return bench::hpccg::hpccg_main(argc, argv, bench::serial_version,
                                    [](unsigned) { return hpccg::serial_execution{}; });
}
