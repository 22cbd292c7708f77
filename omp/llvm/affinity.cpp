#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fult/detail/assertion.hpp>
#include <fult/detail/processor_groups.hpp>

#include "environment.hpp"
#include "omp/core/binding.hpp"
#include "omp/core/environment.hpp"
#include "omp/core/error.hpp"
#include "omp/core/place_list.hpp"
#include "omp/core/threads.hpp"

namespace fult::omp::kmp {
namespace {

using detail::processor_level;
constexpr char variable[] = "KMP_AFFINITY";

enum class arrangement { none, disabled, compact, scatter, balanced, listed };

struct affinity {
    std::optional<arrangement> type;
    processor_level place = processor_level::core; // granularity
    long numbers[2] = {0, 0};                      // permute and offset
    std::size_t count = 0;                         // of these
    std::string list;                              // as OMP_PLACES is written
};

// What is said about it.
class remarks {
  public:
    explicit remarks(bool wanted) : wanted_(wanted) {}
    void silence() noexcept { wanted_ = false; }
    template <class... Arguments> void say(const char *format, Arguments... arguments) const {
        if (wanted_)
            warn(format, arguments...);
    }

  private:
    bool wanted_;
};

std::string in_braces(std::string_view processors) {
    std::string set = "{";
    set += processors;
    set += '}';
    return set;
}

// "[3,0-2,{4,5},8-12:2]": numbers and ranges of places with a processor each, and sets, as OMP_PLACES is
// written. Empty: not understood.
std::string listed_places(std::string_view text) {
    std::string places, set;
    bool in_set = false;
    while (!text.empty()) {
        std::string_view item = take_item(text);
        if (item.starts_with('{')) {
            if (std::exchange(in_set, true))
                return {};
            item = trimmed(item.substr(1));
        }
        const bool ends = in_set && item.ends_with('}');
        if (ends)
            item = trimmed(item.substr(0, item.size() - 1));
        const std::size_t colon = item.find(':'), dash = item.find('-');
        long first = 0, last = 0, step = 1;
        if (!read_number(trimmed(item.substr(0, std::min(dash, colon))), first))
            return {};
        last = first;
        if (dash != item.npos && !read_number(trimmed(item.substr(dash + 1, colon - dash - 1)), last))
            return {};
        if (colon != item.npos && (dash > colon || !read_number(trimmed(item.substr(colon + 1)), step)))
            return {};
        if (first < 0 || last < first || last >= CPU_SETSIZE || step < 1)
            return {};
        for (long i = first; i <= last; i += step)
            add_item(in_set ? set : places, in_set ? std::to_string(i) : in_braces(std::to_string(i)));
        if (ends) {
            add_item(places, in_braces(std::exchange(set, {})));
            in_set = false;
        }
    }
    return in_set ? std::string() : places;
}

bool read_place_level(std::string_view s, processor_level &into) {
    constexpr std::pair<const char *, processor_level> names[] = {
        {"fine", processor_level::thread},        {"thread", processor_level::thread},
        {"core", processor_level::core},          {"ll_cache", processor_level::last_cache},
        {"numa", processor_level::numa_node},     {"numa_domain", processor_level::numa_node},
        {"package", processor_level::package},    {"socket", processor_level::package},
        {"numa_node", processor_level::numa_node}};
    for (const auto &[name, level] : names)
        if (equals(s, name)) {
            into = level;
            return true;
        }
    return false;
}

// A word, or the number that follows the type. False: not understood.
bool read_word(std::string_view s, affinity &into, remarks &about) {
    constexpr std::string_view granularity = "granularity=";
    if (s.size() > granularity.size() && equals(s.substr(0, granularity.size()), granularity))
        return read_place_level(s.substr(granularity.size()), into.place);
    const int type = // arrangement
        index_in({"none", "disabled", "compact", "scatter", "balanced", "explicit"}, s);
    if (type >= 0) {
        into.type = static_cast<arrangement>(type);
        return true;
    }
    if (equals(s, "nowarnings"))
        about.silence();
    else if (equals(s, "verbose"))
        about.say("%s: verbose has no effect; OMP_DISPLAY_AFFINITY=true shows where threads are", variable);
    else if (index_in({"warnings", "noverbose", "respect", "noreset"}, s) < 0)
        return into.count < std::size(into.numbers) && into.type &&
               read_number(s, into.numbers[into.count]) && into.numbers[into.count++] >= 0;
    return true;
}

affinity read(const char *text, remarks &about) {
    affinity asked;
    std::string_view rest = text;
    constexpr std::string_view listed = "proclist=[";
    while (!rest.empty()) {
        rest = trimmed(rest);
        if (const std::size_t end = rest.find(']'); end != rest.npos && rest.size() > listed.size() &&
                                                    equals(rest.substr(0, listed.size()), listed)) {
            asked.list = listed_places(rest.substr(listed.size(), end - listed.size()));
            asked.type = arrangement::listed;
            rest = rest.substr(end + 1);
            take_item(rest);
            continue;
        }
        const std::string word(take_item(rest));
        if (!read_word(word, asked, about))
            about.say("%s: %s is not understood, and ignored", variable, word.c_str());
    }
    return asked;
}

// A processor by its path in the machine: package, core in it, thread of this.
struct located {
    unsigned processor = 0;
    std::array<unsigned, 3> at{};
};

std::vector<located> locate_processors() {
    std::vector<located> all;
    std::vector<unsigned> package_of(CPU_SETSIZE), cores_in;
    for (const auto &package : detail::processor_groups(processor_level::package)) {
        for (const unsigned each : package)
            if (each < CPU_SETSIZE)
                package_of[each] = static_cast<unsigned>(cores_in.size());
        cores_in.push_back(0);
    }
    for (const auto &core : detail::processor_groups(processor_level::core)) {
        if (core.empty() || core.front() >= CPU_SETSIZE)
            continue;
        const unsigned package = package_of[core.front()], number = cores_in[package]++;
        for (unsigned i = 0; i < core.size(); ++i)
            if (core[i] < CPU_SETSIZE)
                all.push_back({core[i], {package, number, i}});
    }
    return all;
}

// The `inner` innermost levels become the outermost, the innermost first.
std::array<unsigned, 3> sort_key(const located &p, std::size_t inner) {
    std::array<unsigned, 3> key{};
    for (std::size_t i = 0; i < key.size(); ++i)
        key[i] = i < inner ? p.at[p.at.size() - 1 - i] : p.at[i - inner];
    return key;
}

// Each place is once in the list, where the first of its processors is.
std::vector<cpu_set_t> arranged_places(const affinity &asked) {
    const std::size_t levels = located{}.at.size();
    const std::size_t permuted =
        std::min<std::size_t>(static_cast<std::size_t>(asked.numbers[0]), levels - 1);
    const std::size_t inner = asked.type == arrangement::scatter ? levels - 1 - permuted : permuted;
    std::vector<located> order = locate_processors();
    std::stable_sort(order.begin(), order.end(), [inner](const located &a, const located &b) {
        return sort_key(a, inner) < sort_key(b, inner);
    });
    const std::vector<std::vector<unsigned>> groups = detail::processor_groups(asked.place);
    std::vector<bool> taken(groups.size());
    std::vector<cpu_set_t> places;
    for (const located &each : order)
        for (std::size_t i = 0; i < groups.size(); ++i) {
            const std::vector<unsigned> &group = groups[i];
            if (taken[i] || std::find(group.begin(), group.end(), each.processor) == group.end())
                continue;
            taken[i] = true;
            cpu_set_t &set = places.emplace_back();
            CPU_ZERO(&set);
            for (const unsigned processor : group)
                if (processor < CPU_SETSIZE)
                    CPU_SET(processor, &set);
        }
    return places;
}

void use_places(const affinity &asked, const char *text) {
    try {
        if (asked.type == arrangement::listed) {
            if (!asked.list.empty())
                places().read(asked.list.c_str(), processors_at_start(), variable);
            return;
        }
        std::vector<cpu_set_t> list = arranged_places(asked);
        if (!list.empty())
            std::rotate(list.begin(), list.begin() + asked.numbers[1] % static_cast<long>(list.size()),
                        list.end());
        places().use(std::move(list));
    } catch (const std::exception &error) {
        warn("%s=%s is ignored: %s", variable, text, error.what());
    }
}

} // namespace

void read_affinity(program_icvs &p, bool warns) {
    const char *const text = std::getenv(variable);
    if (!text)
        return;
    remarks about(warns);
    affinity asked = read(text, about);
    if (!asked.type)
        return;
    for (const char *const rival : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"})
        if (std::getenv(rival))
            about.say("%s is ignored, as %s is set", rival, variable);
    if (binds_threads())
        unbind_thread(this_thread());
    places().clear();
    if (*asked.type == arrangement::listed && asked.list.empty())
        about.say("%s=%s: no list of processors that is understood, so no thread is bound", variable, text);
    if (*asked.type != arrangement::none && *asked.type != arrangement::disabled)
        use_places(asked, text);
    const bind_policy policy = !binds_threads()                       ? bind_policy::none
                               : *asked.type == arrangement::balanced ? bind_policy::spread
                                                                      : bind_policy::close;
    p.first.bind = static_cast<int>(policy);
    p.bind_levels = 0;
    if (binds_threads())
        bind_thread(this_thread(), 0);
}

} // namespace fult::omp::kmp
