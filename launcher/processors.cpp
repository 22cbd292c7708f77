#include "launcher/processors.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <tuple>

#include "fult/base/affinity_mask.hpp"

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
    for (const unsigned each : fult::detail::affinity_mask()) {
        const int n = static_cast<int>(each);
        result.push_back({n, topology(n, "physical_package_id", 0), topology(n, "core_id", n)});
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
