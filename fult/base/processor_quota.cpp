#include "processor_quota.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace fult::detail {
namespace {

// Empty if there is no such file. Streams of C++ would take ten times as long: the first one of a process
// makes a locale.
std::string text_of(const std::string &path) {
    std::string text;
    if (std::FILE *const file = std::fopen(path.c_str(), "re")) {
        char part[4096];
        while (const std::size_t size = std::fread(part, 1, sizeof part, file))
            text.append(part, size);
        std::fclose(file);
    }
    return text;
}

// Removes the first part of a text, up to a separator.
std::string_view take_up_to(char separator, std::string_view &text) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view first = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return first;
}

// 0 if it is no number.
std::int64_t number_in(std::string_view text) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty())
        if (take_up_to(',', list) == word)
            return true;
    return false;
}

// A mounted hierarchy of groups: what lies at `folder` is the group `top` of the hierarchy.
struct hierarchy {
    bool second_version;
    std::string top, folder;
};

// A line of /proc/self/mountinfo: ID PARENT DEVICE TOP FOLDER OPTIONS... - TYPE SOURCE OPTIONS
bool read_mount(std::string_view line, hierarchy &into) {
    const auto next = [&line] { return take_up_to(' ', line); };
    for (int skipped = 0; skipped < 3; ++skipped)
        next();
    into.top = next();
    into.folder = next();
    while (!line.empty() && next() != "-")
        ;
    const std::string_view type = next();
    next(); // the source
    into.second_version = type == "cgroup2";
    return into.second_version || (type == "cgroup" && has_word(next(), "cpu"));
}

std::vector<hierarchy> mounted(const std::string &root) {
    std::vector<hierarchy> found;
    const std::string text = text_of(root + "/proc/self/mountinfo");
    hierarchy one;
    for (std::string_view rest = text; !rest.empty();)
        if (read_mount(take_up_to('\n', rest), one))
            found.push_back(one);
    return found;
}

// The process's group in the hierarchy, from /proc/self/cgroup with lines such as "4:cpu,cpuacct:/a/b" and,
// of the second version, "0::/a/b".
std::string group_in(const hierarchy &from, std::string_view groups) {
    while (!groups.empty()) {
        std::string_view line = take_up_to('\n', groups);
        const std::string_view number = take_up_to(':', line), controllers = take_up_to(':', line);
        if (from.second_version ? number == "0" && controllers.empty() : has_word(controllers, "cpu"))
            return std::string(line);
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
        const std::string text = text_of(folder + "/cpu.max");
        std::string_view rest = text;
        limit = number_in(take_up_to(' ', rest));
        period = number_in(rest);
    } else if (limit = number_in(text_of(folder + "/cpu.cfs_quota_us")); limit > 0) {
        period = number_in(text_of(folder + "/cpu.cfs_period_us"));
    }
    if (limit <= 0 || period <= 0)
        return 0;
    return static_cast<std::uint64_t>(limit / period) + (limit % period != 0);
}

} // namespace

unsigned processor_quota(const std::string &root) {
    constexpr std::uint64_t most = 1'000'000;
    std::uint64_t least = 0;
    const std::string groups = text_of(root + "/proc/self/cgroup");
    for (const hierarchy &each : mounted(root))
        for (std::string below = path_below(each, group_in(each, groups));;
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
