// How the programs read their command line: CLI11, with help of at most 98 columns, and errors that name the
// program and the remedy.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "fult/base/numbers.hpp"

#include <CLI/CLI.hpp>

namespace fult::tools {

inline constexpr int wrong_command_line = 2; // the exit status

// Words of a text in lines, of which all but the first begin with so many spaces.
inline std::string wrapped(const std::string &text, std::size_t indent, std::size_t width = 98) {
    std::istringstream words(text);
    std::string out;
    std::size_t column = indent;
    for (std::string word; words >> word; column += word.size() + 1) {
        if (column > indent && column + word.size() > width) {
            out += '\n' + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += ' ';
        }
        out += word;
    }
    return out;
}

class help_format : public CLI::Formatter {
  public:
    explicit help_format(std::string usage) : usage_(std::move(usage)) { column_width(24); }

    std::string make_usage(const CLI::App *line, std::string name) const override {
        std::string words = usage_;
        for (const CLI::Option *option : line->get_options())
            if (usage_.empty() && option->get_positional())
                words += " " + make_option_usage(option);
        return "\nusage: " + name + " " + (usage_.empty() ? "[option...]" : "") + words + "\n";
    }
    std::string make_option(const CLI::Option *option, bool is_positional) const override {
        const std::size_t column = get_column_width();
        const std::string left = "  " + make_option_name(option, is_positional) + make_option_opts(option);
        const std::string gap = left.size() + 2 > column ? '\n' + std::string(column, ' ')
                                                         : std::string(column - left.size(), ' ');
        std::string meaning = make_option_desc(option);
        if (!option->get_default_str().empty())
            meaning += " (" + option->get_default_str() + ")";
        return left + gap + wrapped(meaning, column) + '\n';
    }

    std::string make_option_opts(const CLI::Option *option) const override {
        return option->get_type_size() == 0 || option->get_type_name().empty()
                   ? ""
                   : " " + option->get_type_name();
    }

  private:
    std::string usage_;
};

class command_line : public CLI::App {
  public:
    // Without a name, the program is called as it was started. Without a usage, it has options and its
    // positional words.
    explicit command_line(const std::string &purpose, const std::string &name = {},
                          const std::string &usage = {})
        : CLI::App(wrapped(purpose, 0), name) {
        set_help_flag("-h,--help", "this text");
        formatter(std::make_shared<help_format>(usage));
    }

    // An option without a value: it sets the variable.
    CLI::Option *add_switch(const std::string &names, bool &variable, const std::string &help,
                            bool value = true) {
        return add_flag_callback(
                   names, [&variable, value] { variable = value; }, help)
            ->disable_flag_override();
    }

    // The status to end with: after an error, after --help, after --version. Nothing where the program is to
    // run.
    std::optional<int> read(int argc, const char *const *argv) {
        try {
            parse(argc, argv);
        } catch (const CLI::ParseError &ending) {
            return ended(ending);
        }
        return std::nullopt;
    }
    std::optional<int> ended(const CLI::ParseError &why) const {
        if (why.get_exit_code() != 0)
            return refuse(why.what());
        exit(why);
        return std::cout.flush() ? 0 : 1;
    }

    // For what only shows when everything is known.
    int refuse(const std::string &message) const {
        std::fprintf(stderr, "%s: %s; --help lists the options\n", get_name().c_str(), message.c_str());
        return wrong_command_line;
    }
};

// A decimal number from low to high. For CLI::Option::transform.
template <class Number> CLI::Validator whole_number(Number low, Number high) {
    const auto read = [low, high](std::string &text) -> std::string {
        const auto value = detail::whole_number<Number>(text);
        if (!value || *value < low || *value > high)
            return "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                   ", not '" + text + "'";
        text = std::to_string(*value); // CLI11 would take 010 for octal
        return {};
    };
    return CLI::Validator(read, "");
}

// A decimal number with or without a fraction.
inline CLI::Validator any_number() {
    const auto read = [](std::string &text) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool right = error == std::errc{} && end == text.data() + text.size();
        return right ? std::string() : "must be a number, not '" + text + "'";
    };
    return CLI::Validator(read, "");
}

} // namespace fult::tools
