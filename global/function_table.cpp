#include "global/function_table.hpp"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <fult/detail/misuse.hpp>

namespace fult::global::detail {

namespace {

struct table {
    std::mutex mutex; // libraries may be loaded while ranks communicate
    std::unordered_map<std::uint64_t, found_function> functions;
};
// Filled before main, in any order of the sources: made by its first user, and never destroyed.
table &functions() {
    static table *const all = new table;
    return *all;
}

// FNV-1a.
std::uint64_t hash_of(const char *name) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (; *name; ++name)
        hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3U;
    return hash;
}

} // namespace

std::uint64_t register_function(const remote_function &made) {
    remote_function named = made;
    named.hash = hash_of(made.name);
    table &all = functions();
    const std::lock_guard guard(all.mutex);
    found_function &entry = all.functions[named.hash];
    if (!entry.what)
        entry.what = new remote_function(named); // for as long as the process lives
    else if (std::strcmp(entry.what->name, made.name) != 0)
        fult::detail::misuse("global::spawn_at", "two functions have names with the same hash; rename one");
    else if (entry.what->run != made.run)
        entry.ambiguous = true;
    return named.hash;
}

found_function find_function(std::uint64_t hash) {
    table &all = functions();
    const std::lock_guard guard(all.mutex);
    const auto found = all.functions.find(hash);
    return found == all.functions.end() ? found_function() : found->second;
}

// "fult::global::detail::remote_call<fult::global::detail::constant_function<&square>, int>" becomes
// "square".
std::string readable_name(const remote_function &of) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(of.name, nullptr, nullptr, &status), &std::free);
    std::string name = status == 0 ? text.get() : of.name;
    for (const std::string_view begin :
         {"fult::global::detail::remote_call<", "fult::global::detail::constant_function<", "&"})
        if (name.starts_with(begin))
            name.erase(0, begin.size());
    // Without the types of the arguments, which follow.
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        depth += name[i] == '<' || name[i] == '(' ? 1 : name[i] == '>' || name[i] == ')' ? -1 : 0;
        if (depth < 0 || (depth == 0 && name[i] == ',')) {
            name.erase(i);
            break;
        }
    }
    return name;
}

} // namespace fult::global::detail
