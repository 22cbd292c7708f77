#include "common/arguments.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <type_traits>

namespace bench {
namespace {
std::string program_name = "benchmark";

template <class Number> std::string to_text(Number value) {
    std::ostringstream out;
    out.precision(12);
    out << value;
    return out.str();
}
} // namespace

template <class Number> void arguments::number(std::string names, Number &variable, std::string help) {
    auto read = [&variable](const std::string &text) -> std::string {
        Number value{};
        const char *end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, value);
        if (result.ec != std::errc{} || result.ptr != end || text.empty()) {
            const char *kind = std::is_floating_point_v<Number> ? "a number"
                               : std::is_unsigned_v<Number>     ? "a whole number from 0 on"
                                                                : "a whole number";
            return "'" + text + "' is not " + kind + " that fits";
        }
        variable = value;
        return {};
    };
    entries_.push_back({std::move(names), std::move(help), to_text(variable), true, std::move(read)});
}

void arguments::option(std::string names, unsigned &variable, std::string help) {
    number(std::move(names), variable, std::move(help));
}
void arguments::option(std::string names, unsigned long &variable, std::string help) {
    number(std::move(names), variable, std::move(help));
}
void arguments::option(std::string names, int &variable, std::string help) {
    number(std::move(names), variable, std::move(help));
}
void arguments::option(std::string names, double &variable, std::string help) {
    number(std::move(names), variable, std::move(help));
}
void arguments::option(std::string names, std::string &variable, std::string help) {
    auto read = [&variable](const std::string &text) {
        variable = text;
        return std::string();
    };
    entries_.push_back({std::move(names), std::move(help), variable, true, std::move(read)});
}
void arguments::option(std::string names, bool &variable, std::string help) {
    auto read = [&variable](const std::string &) {
        variable = true;
        return std::string();
    };
    entries_.push_back({std::move(names), std::move(help), {}, false, std::move(read)});
}
void arguments::word(std::string name, std::function<std::string(const std::string &)> read,
                     std::string help) {
    word_ = {std::move(name), std::move(help), {}, true, std::move(read)};
}

const arguments::entry *arguments::find(std::string_view name) const {
    for (const entry &each : entries_) {
        std::istringstream names(each.names);
        for (std::string one; std::getline(names, one, ',');)
            if (one == name)
                return &each;
    }
    return nullptr;
}

void arguments::print_help(const char *program) const {
    std::printf("%s\n\nusage: %s [option...]", purpose_.c_str(), program);
    if (word_.read)
        std::printf(" [%s]", word_.names.c_str());
    std::printf("\n\n");
    auto line = [](const entry &each, const char *suffix) {
        std::printf("  %-22s %s", (each.names + suffix).c_str(), each.help.c_str());
        if (!each.initial.empty())
            std::printf(" (%s)", each.initial.c_str());
        std::printf("\n");
    };
    if (word_.read)
        line(word_, "");
    for (const entry &each : entries_)
        line(each, each.takes_value ? " VALUE" : "");
    std::printf("  %-22s %s\n\nOne line of JSON is written for each measure.\n", "-h,--help", "this text");
}

void arguments::parse(int argc, char **argv) const {
    program_name = argv[0];
    bool word_seen = false;
    for (int i = 1; i < argc; ++i) {
        std::string name = argv[i];
        if (name == "-h" || name == "--help") {
            print_help(argv[0]);
            std::exit(0);
        }
        std::string value;
        bool attached = false;
        if (const auto equals = name.find('='); name.starts_with("--") && equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
            attached = true;
        }
        std::string error;
        if (const entry *known = find(name)) {
            if (known->takes_value && !attached) {
                if (++i == argc)
                    fail("option " + name + " needs a value");
                value = argv[i];
            } else if (!known->takes_value && attached) {
                fail("option " + name + " takes no value");
            }
            error = known->read(value);
            if (!error.empty())
                error = "option " + name + ": " + error;
        } else if (!name.starts_with("-") && word_.read && !word_seen) {
            word_seen = true;
            error = word_.read(name);
        } else {
            error = (name.starts_with("-") ? "unknown option '" : "unexpected word '") + name + "'";
        }
        if (!error.empty())
            fail(error);
    }
}

void arguments::fail(const std::string &message) {
    std::fprintf(stderr, "%s: %s; --help shows what there is\n", program_name.c_str(), message.c_str());
    std::exit(2);
}

} // namespace bench
