// The command line of a benchmark program: options with a value or without, one optional word, --help, clear
// errors.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class arguments {
  public:
    // The purpose is the first line of the help.
    explicit arguments(std::string purpose) : purpose_(std::move(purpose)) {}

    // An option that takes a value. The names are separated by a comma ("-n,--size"); what the variable holds
    // now is shown as the default. The variable must live until parse has returned.
    void option(std::string names, unsigned &variable, std::string help);
    void option(std::string names, unsigned long &variable, std::string help);
    void option(std::string names, int &variable, std::string help);
    void option(std::string names, double &variable, std::string help);
    void option(std::string names, std::string &variable, std::string help);
    void option(std::string names, bool &variable, std::string help); // takes no value: sets the variable

    // At most one word that is not an option; read returns an error message, or an empty string.
    void word(std::string name, std::function<std::string(const std::string &)> read, std::string help);

    // Fills the variables. Prints the help and exits with 0 on --help; prints what is wrong and exits with 2
    // otherwise.
    void parse(int argc, char **argv) const;

    // For errors found after parsing. Prints "program: message" and exits with 2.
    [[noreturn]] static void fail(const std::string &message);

  private:
    struct entry {
        std::string names;
        std::string help;
        std::string initial; // empty: none to show
        bool takes_value;
        std::function<std::string(const std::string &)> read; // an error message, or empty
    };
    template <class Number> void number(std::string names, Number &variable, std::string help);
    const entry *find(std::string_view name) const;
    void print_help(const char *program) const;

    std::string purpose_;
    std::vector<entry> entries_;
    entry word_{};
};

} // namespace bench
