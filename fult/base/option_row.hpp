// The description of an option: its variable, its member, its values and its meaning. Parsing, checks,
// messages, the listings of the programs and the tables of the documents are made from it, for both
// libraries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "numbers.hpp"
#include "suggestion.hpp"

namespace fult::detail {

template <class Options> struct option_row {
    const char *variable; // FULT_...
    const char *help;
    bool (*parse)(Options &into,
                  std::string_view text);  // false if it is no such value; no check of the range
    bool (*valid)(const Options &checked); // for every source of values
    std::string (*print)(const Options &from);
    std::string (*values)();       // as documented
    std::string (*default_text)(); // as documented
    std::string (*requirement)();  // the end of "... must be "
};

// --- numbers

// 65536, 64K, 1M, 2G, 1T. False if it is none, or too large.
inline bool parse_number(std::string_view text, std::size_t &into) {
    const std::size_t unit = text.empty() ? text.npos : std::string_view("kKmMgGtT").find(text.back());
    const std::size_t shift = unit == text.npos ? 0 : (unit / 2 + 1) * 10;
    if (shift != 0)
        text.remove_suffix(1);
    const auto number = whole_number<std::size_t>(text);
    if (!number || *number > (~std::size_t{0} >> shift))
        return false;
    into = *number << shift;
    return true;
}

// As a person writes it: 65536 is 64K.
inline std::string short_form(std::size_t number) {
    std::size_t unit = 0;
    for (; number != 0 && number % 1024 == 0 && unit < 4; ++unit)
        number /= 1024;
    return std::to_string(number) + std::string("KMGT").substr(unit - (unit != 0), unit != 0);
}

struct option_unit {
    const char *name;
    bool shortened; // the documents have 64K instead of 65536
};
inline constexpr option_unit numbers{"a number", false}, large_numbers{"a number", true},
    bytes{"a size", true}, seconds{"seconds", false}, milliseconds{"milliseconds", false},
    microseconds{"microseconds", false};

// --- kinds of options

template <auto Member> struct member_traits;
template <class Options, class Type, Type Options::*Member> struct member_traits<Member> {
    using options = Options;
    using type = Type;
};

inline constexpr std::size_t unbounded = ~std::size_t{0} >> 1;

// A number from Low to High.
template <auto Member, const option_unit &Unit, std::size_t Low, std::size_t High> struct number_option {
    using options = typename member_traits<Member>::options;
    using type = typename member_traits<Member>::type;

    static bool parse(options &into, std::string_view text) {
        std::size_t value = 0;
        if (!parse_number(text, value))
            return false;
        into.*Member = static_cast<type>(value);
        return std::size_t{into.*Member} == value;
    }
    static bool valid(const options &o) { return o.*Member >= Low && o.*Member <= High; }
    static std::string print(const options &o) { return std::to_string(o.*Member); }
    static std::string text(std::size_t value) {
        return Unit.shortened ? short_form(value) : std::to_string(value);
    }
    static std::string values() { return High == unbounded ? "number" : text(Low) + " to " + text(High); }
    static std::string default_text() { return text(options{}.*Member); }
    static std::string requirement() {
        if (High == unbounded)
            return Unit.name;
        const std::string usual = print(options{}), brief = default_text();
        return Unit.name + (" from " + values()) +
               (usual == brief ? std::string() : ", such as " + usual + " or " + brief);
    }
};

// The same, or auto, which is 0.
template <auto Member, const option_unit &Unit, std::size_t Low, std::size_t High, std::size_t Usual>
struct number_or_auto : number_option<Member, Unit, Low, High> {
    using numbered = number_option<Member, Unit, Low, High>;
    using options = typename numbered::options;

    static bool parse(options &into, std::string_view text) {
        if (text != "auto")
            return numbered::parse(into, text) && into.*Member != 0;
        into.*Member = 0;
        return true;
    }
    static bool valid(const options &o) { return o.*Member == 0 || numbered::valid(o); }
    static std::string print(const options &o) { return o.*Member == 0 ? "auto" : numbered::print(o); }
    static std::string values() { return "auto, " + numbered::values(); }
    static std::string default_text() { return print(options{}); }
    static std::string requirement() {
        return Unit.name + (" from " + numbered::values()) + ", such as " + std::to_string(Usual) + " or " +
               short_form(Usual) + ", or auto";
    }
};

template <class Type> struct choice {
    const char *name;
    Type value;
};
inline constexpr choice<bool> switch_choices[] = {{"on", true},  {"off", false},  {"1", true},
                                                  {"yes", true}, {"true", true},  {"0", false},
                                                  {"no", false}, {"false", false}};

// One of a few named values. A further name of a value is accepted, but not documented.
template <auto Member, const auto &Choices> struct named_option {
    using options = typename member_traits<Member>::options;

    static bool parse(options &into, std::string_view text) {
        for (const auto &each : Choices)
            if (text == each.name) {
                into.*Member = each.value;
                return true;
            }
        return false;
    }
    static bool valid(const options &o) {
        return std::any_of(std::begin(Choices), std::end(Choices),
                           [&](const auto &each) { return o.*Member == each.value; });
    }
    static std::string print(const options &o) {
        for (const auto &each : Choices)
            if (o.*Member == each.value)
                return each.name;
        return std::to_string(static_cast<int>(o.*Member));
    }
    static std::string values() { return list(", "); }
    static std::string default_text() { return print(options{}); }
    static std::string requirement() { return list(" or "); }

    static std::string list(const char *before_last) {
        std::string out;
        std::string_view last;
        options o{};
        for (const auto &each : Choices) {
            o.*Member = each.value;
            if (print(o) != each.name)
                continue;
            if (!last.empty())
                out += out.empty() ? last : ", " + std::string(last);
            last = each.name;
        }
        return out + before_last + std::string(last);
    }
};
template <auto Member> using switch_option = named_option<Member, switch_choices>;

// Any text; what uses it knows which there are. Description is a string.
template <auto Member, const auto &Description> struct text_option {
    using options = typename member_traits<Member>::options;

    static bool parse(options &into, std::string_view text) {
        into.*Member = text;
        return true;
    }
    static bool valid(const options &) { return true; }
    static std::string print(const options &o) { return o.*Member; }
    static std::string values() { return Description; }
    static std::string default_text() { return print(options{}); }
    static std::string requirement() { return Description; }
};

template <class Kind>
constexpr option_row<typename Kind::options> option(const char *variable, const char *help) {
    return {variable,     help,          &Kind::parse,        &Kind::valid,
            &Kind::print, &Kind::values, &Kind::default_text, &Kind::requirement};
}

// --- the environment

// The value there; nullptr if the variable is unset or empty.
template <class Options> inline const char *environment_value(const option_row<Options> &row) noexcept {
    const char *found = std::getenv(row.variable);
    return found && *found != '\0' ? found : nullptr;
}

// Changes the one option. Throws std::invalid_argument: `what`, and the permitted values.
template <class Options>
inline void set_option(const option_row<Options> &row, Options &into, std::string_view text,
                       const std::string &what) {
    Options changed = into; // so that an error leaves `into` as it is
    if (!row.parse(changed, text) || !row.valid(changed))
        throw std::invalid_argument(what + ": must be " + row.requirement());
    into = std::move(changed);
}

// Throws std::invalid_argument for options of a program that was compiled with another version of the
// library. A member that is added later keeps its default where `size` says that the program does not have
// it.
template <class Options> inline void require_size(const Options &given, const char *library) {
    if (given.size != sizeof(Options))
        throw std::invalid_argument(
            std::string(library) + ": options.size is " + std::to_string(given.size) +
            ", and this library's options have " + std::to_string(sizeof(Options)) +
            " bytes: leave it as it is, and compile the program with the headers of the "
            "library that it runs with");
}

// Throws std::invalid_argument if an option is out of its range, wherever its value comes from.
template <class Options>
inline void require_valid(std::span<const option_row<Options>> rows, const Options &checked,
                          const char *library) {
    require_size(checked, library);
    for (const auto &row : rows)
        if (!row.valid(checked))
            throw std::invalid_argument(std::string(library) + ": " + row.variable + "='" +
                                        row.print(checked) + "' (or the option of that name): must be " +
                                        row.requirement());
}

// Changes the options by the environment. An error begins with the name of the library.
template <class Options>
inline void read_environment(std::span<const option_row<Options>> rows, Options &result,
                             const char *library) {
    require_size(result, library);
    for (const auto &row : rows)
        if (const char *text = environment_value(row))
            set_option(row, result, text, std::string(library) + ": " + row.variable + "='" + text + "'");
}

// Calls `report` with each name in the environment that begins with the prefix and is of no row, and with the
// question whether a similar one was meant.
template <class Options, class Report>
inline void for_each_unknown(std::span<const option_row<Options>> rows, std::string_view prefix,
                             const Report &report) {
    for (char **each = environ; each && *each; ++each) {
        const std::string_view entry(*each), name = entry.substr(0, entry.find('='));
        if (name.starts_with(prefix) &&
            std::none_of(rows.begin(), rows.end(), [&](const auto &row) { return name == row.variable; })) {
            suggestion meant(name);
            for (const auto &row : rows)
                meant.consider(row.variable);
            report(name, meant.question());
        }
    }
}

} // namespace fult::detail
