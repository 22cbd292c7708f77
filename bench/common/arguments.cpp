#include "common/arguments.hpp"

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "tools/command_line.hpp"

namespace bench {
namespace {

std::string program_name = "benchmark";

template <class Value>
CLI::Option *add(CLI::App &line, const std::string &names, Value &variable, const std::string &help) {
    CLI::Option *const made =
        line.add_option(names, variable, help)->type_name("VALUE")->capture_default_str();
    if constexpr (std::is_integral_v<Value>)
        made->transform(
            fult::tools::whole_number(std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max()));
    if constexpr (std::is_floating_point_v<Value>)
        made->check(fult::tools::any_number());
    return made;
}

} // namespace

arguments::arguments(std::string purpose) : line_(std::make_unique<fult::tools::command_line>(purpose)) {
    line_->footer("Writes one line of JSON per measurement.");
}
arguments::~arguments() = default;

void arguments::option(std::string names, unsigned &variable, std::string help) {
    add(*line_, names, variable, help);
}
void arguments::option(std::string names, unsigned long &variable, std::string help) {
    add(*line_, names, variable, help);
}
void arguments::option(std::string names, int &variable, std::string help) {
    add(*line_, names, variable, help);
}
void arguments::option(std::string names, double &variable, std::string help) {
    add(*line_, names, variable, help);
}
void arguments::option(std::string names, std::string &variable, std::string help) {
    add(*line_, names, variable, help);
}
void arguments::option(std::string names, bool &variable, std::string help) {
    line_->add_switch(names, variable, help);
}
void arguments::word(std::string name, std::function<std::string(const std::string &)> read,
                     std::string help) {
    line_
        ->add_option_function<std::string>(
            name,
            [name, read](const std::string &text) {
                if (const std::string error = read(text); !error.empty())
                    throw CLI::ValidationError(name, error);
            },
            help)
        ->type_name("");
}

void arguments::parse(int argc, char **argv) const {
    program_name = argv[0];
    if (const auto status = line_->read(argc, argv))
        std::exit(*status);
}

void arguments::fail(const std::string &message) {
    std::fprintf(stderr, "%s: %s; --help lists the options\n", program_name.c_str(), message.c_str());
    std::exit(fult::tools::wrong_command_line);
}

} // namespace bench
