// The kernels of OpenMP tasks, one chosen by name, and the costs of constructs. bench/run runs this program
// on the runtime of its compiler and on ours.
#include "common/openmp_version.hpp"
#include "omp/kernels.hpp"
#include "omp/overheads.hpp"

namespace {

const bench::omp::kernel *find(const std::string &name) {
    for (const bench::omp::kernel &each : bench::omp::kernels)
        if (name == each.name)
            return &each;
    return nullptr;
}

std::string all_names() {
    std::string all = "overheads: microseconds of constructs, by EPCC's definitions";
    for (const bench::omp::kernel &each : bench::omp::kernels)
        all += std::string("; ") + each.name + ": " + each.about + " (" + std::to_string(each.size) + ")";
    return all;
}

} // namespace

int main(int argc, char **argv) {
    bench::kernel_settings settings;
    const bench::omp::kernel *chosen = nullptr;
    bool overheads = false;
    unsigned size = 0;
    bench::arguments line("omp: kernels of OpenMP tasks without a cut-off.");
    line.word(
        "KERNEL",
        [&](const std::string &word) {
            chosen = find(word);
            overheads = word == "overheads";
            return chosen || overheads ? std::string()
                                       : "there is no kernel '" + word + "'; there are " + all_names();
        },
        all_names());
    line.option("-n,--size", size, "SIZE of the kernel; 0: the one in parentheses");
    settings.declare(line);
    line.parse(argc, argv);
    if (overheads)
        return bench::omp::measure_overheads(settings);
    if (!chosen)
        bench::arguments::fail("which kernel? " + all_names());
    bench::job work = chosen->make(size != 0 ? size : chosen->size);
    work.benchmark = "omp";
    work.name = chosen->name;
    return bench::run_kernel(bench::openmp_version, settings, work);
}
