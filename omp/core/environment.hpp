// Reading of environment variables.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace fult::omp {

std::string_view trimmed(std::string_view s);            // without spaces at its ends
bool equals(std::string_view a, std::string_view b);     // case does not matter
bool read_number(std::string_view s, long &value);       // false: s is not one decimal number
std::string_view take_item(std::string_view &s);         // takes the text up to a comma off the front of s
void add_item(std::string &list, std::string_view item); // behind a comma, if it is not the first
int index_in(std::initializer_list<const char *> names, std::string_view s); // case does not matter; -1: none
void ignored(const char *name, const char *value);                           // warns: not understood
void read_int(const char *name, int least, int &into);
void read_bool(const char *name, bool &into);
// Bytes of a stack, in `unit` if the text has none of its own: b, k, m, g.
void read_size(const char *name, const char *text, const char *unit, std::size_t &into);

} // namespace fult::omp
