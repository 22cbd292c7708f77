#include "../../apps/hpccg/fult_execution.hpp"
#include "common/fult_version.hpp"
#include "hpccg/hpccg.hpp"

int main(int argc, char **argv) {
    return bench::hpccg::hpccg_main(argc, argv, bench::fult_version,
                                    [](unsigned) { return hpccg::fult_execution{}; });
}
