#include "environment.hpp"

#include <cctype>
#include <cstdlib>
#include <string>

#include "error.hpp"

namespace fult::omp {

void ignored(const char *name, const char *value) {
    warn("%s=%s is not understood, and ignored", name, value);
}

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())))
        s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())))
        s.remove_suffix(1);
    return s;
}

bool equals(std::string_view a, std::string_view b) {
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
            return false;
    return true;
}

int index_in(std::initializer_list<const char *> names, std::string_view s) {
    for (const char *const &each : names)
        if (equals(s, each))
            return static_cast<int>(&each - names.begin());
    return -1;
}

std::string_view take_item(std::string_view &s) {
    const std::size_t comma = s.find(',');
    const std::string_view item = trimmed(s.substr(0, comma));
    s = comma == s.npos ? std::string_view() : s.substr(comma + 1);
    return item;
}

void add_item(std::string &list, std::string_view item) {
    if (!list.empty())
        list += ',';
    list += item;
}

bool read_number(std::string_view s, long &value) {
    const std::string text(s);
    char *end = nullptr;
    value = std::strtol(text.c_str(), &end, 10);
    return !text.empty() && *end == '\0';
}

void read_int(const char *name, int least, int &into) {
    const char *text = std::getenv(name);
    if (!text)
        return;
    long value = 0;
    if (read_number(trimmed(text), value) && value >= least && value <= 0x7fffffff)
        into = static_cast<int>(value);
    else
        ignored(name, text);
}

void read_bool(const char *name, bool &into) {
    const char *text = std::getenv(name);
    if (!text)
        return;
    const int value =
        index_in({"false", "true", "0", "1", "no", "yes", "off", "on", ".f.", ".t."}, trimmed(text));
    if (value < 0)
        ignored(name, text);
    else
        into = value % 2 != 0;
}

void read_size(const char *name, const char *text, const char *unit, std::size_t &into) {
    char *end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    const std::string_view own_unit = trimmed(end);
    const int power = index_in({"b", "k", "m", "g"}, own_unit.empty() ? unit : own_unit);
    if (end == text || power < 0)
        return ignored(name, text);
    const unsigned long long factor = 1ull << 10 * power;
    constexpr unsigned long long most = 1ull << 30, least = 1ull << 14;
    const unsigned long long size = value > ~0ull / factor ? ~0ull : value * factor;
    if (size > most)
        warn("%s=%s: stacks have 1 GiB, the most that a task can have; larger data belong on the heap", name,
             text);
    into = static_cast<std::size_t>(size > most ? most : size < least ? least : size);
}

} // namespace fult::omp
