#include "processor_quota.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fult::detail {
namespace {

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (list.substr(0, end) == word)
            return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

// A mounted hierarchy of groups: what lies at `folder` is the group `top` of the hierarchy.
struct hierarchy {
    bool second_version;
    std::string top, folder;
};

// A line of /proc/self/mountinfo: ID PARENT DEVICE TOP FOLDER OPTIONS... - TYPE SOURCE OPTIONS
bool read_mount(const std::string &line, hierarchy &into) {
    std::istringstream words(line);
    std::string skipped, type, source, options;
    words >> skipped >> skipped >> skipped >> into.top >> into.folder;
    while (words >> skipped && skipped != "-")
        ;
    words >> type >> source >> options;
    into.second_version = type == "cgroup2";
    return into.second_version || (type == "cgroup" && has_word(options, "cpu"));
}

std::vector<hierarchy> mounted(const std::string &root) {
    std::vector<hierarchy> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    hierarchy one;
    for (std::string line; std::getline(file, line);)
        if (read_mount(line, one))
            found.push_back(one);
    return found;
}

// The process's group in the hierarchy, from /proc/self/cgroup with lines such as "4:cpu,cpuacct:/a/b" and,
// of the second version, "0::/a/b".
std::string group_in(const hierarchy &from, const std::string &root) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == line.npos)
            continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        if (from.second_version ? line.starts_with("0::") : has_word(controllers, "cpu"))
            return line.substr(second + 1);
    }
    return "/";
}

// The group's folder below that of the hierarchy. Empty where only a part of the hierarchy is mounted and
// the group is that part, as in a container, or lies outside.
std::string path_below(const hierarchy &from, const std::string &group) {
    const std::string top = from.top == "/" ? "" : from.top;
    if (!group.starts_with(top + "/") || group.starts_with(top + "/.."))
        return "";
    const std::string below = group.substr(top.size());
    return below == "/" ? "" : below;
}

// Of one group: processors, rounded up, 0 without a quota. In integers: a division of doubles would leave its
// exceptions in the floating-point environment of the program.
std::uint64_t quota_of(const hierarchy &from, const std::string &folder) {
    std::int64_t limit = 0, period = 0; // the limit is "max", or -1, where there is none
    if (from.second_version) {
        std::ifstream(folder + "/cpu.max") >> limit >> period;
    } else {
        std::ifstream(folder + "/cpu.cfs_quota_us") >> limit;
        std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    if (limit <= 0 || period <= 0)
        return 0;
    return static_cast<std::uint64_t>(limit / period) + (limit % period != 0);
}

} // namespace

unsigned processor_quota(const std::string &root) {
    constexpr std::uint64_t most = 1'000'000;
    std::uint64_t least = 0;
    for (const hierarchy &each : mounted(root))
        for (std::string below = path_below(each, group_in(each, root));;
             below.resize(below.find_last_of('/'))) {
            const std::uint64_t quota = quota_of(each, std::string(root).append(each.folder).append(below));
            if (quota != 0 && (least == 0 || quota < least))
                least = quota;
            if (below.empty())
                break;
        }
    return static_cast<unsigned>(std::min(least, most));
}

unsigned processor_quota() noexcept {
    static const unsigned at_first = [] {
        try {
            return processor_quota("");
        } catch (const std::bad_alloc &) {
            return 0u;
        }
    }();
    return at_first;
}

} // namespace fult::detail
