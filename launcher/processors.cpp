#include "launcher/processors.hpp"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <string>
#include <tuple>

namespace fult::run {
namespace {

int topology(int number, const char *what, int otherwise) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(number) + "/topology/" + what);
    int value = 0;
    return file >> value ? value : otherwise;
}

} // namespace

std::vector<processor> allowed_processors() {
    std::vector<processor> result;
    // The kernel requires space for all possible processors.
    for (int room = 1024; room <= 1 << 20 && result.empty(); room *= 4) {
        cpu_set_t *const set = CPU_ALLOC(static_cast<std::size_t>(room));
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(room));
        if (set == nullptr)
            break;
        if (::sched_getaffinity(0, bytes, set) == 0)
            for (int n = 0; n < room; ++n)
                if (CPU_ISSET_S(static_cast<std::size_t>(n), bytes, set))
                    result.push_back({n, topology(n, "physical_package_id", 0), topology(n, "core_id", n)});
        CPU_FREE(set);
    }
    std::sort(result.begin(), result.end(), [](const processor &a, const processor &b) {
        return std::tie(a.package, a.core, a.number) < std::tie(b.package, b.core, b.number);
    });
    return result;
}

std::vector<std::vector<int>> share_out(const std::vector<processor> &processors, int ranks) {
    const auto parts = static_cast<std::size_t>(ranks);
    if (processors.size() < parts)
        return {};
    // The units that are not divided: cores, if there are enough.
    std::vector<std::vector<int>> pieces;
    const processor *before = nullptr;
    for (const processor &each : processors) {
        if (before == nullptr || before->package != each.package || before->core != each.core)
            pieces.emplace_back();
        pieces.back().push_back(each.number);
        before = &each;
    }
    if (pieces.size() < parts) {
        pieces.clear();
        for (const processor &each : processors)
            pieces.push_back({each.number});
    }
    std::vector<std::vector<int>> result(parts);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        // Rank r gets the units from r*n/parts to (r+1)*n/parts.
        auto &mine = result[((i + 1) * parts - 1) / pieces.size()];
        mine.insert(mine.end(), pieces[i].begin(), pieces[i].end());
    }
    return result;
}

} // namespace fult::run
