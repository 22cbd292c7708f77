// The command line of a benchmark program: options with a value or without, one optional word, --help. CLI11
// reads it.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace fult::tools {
class command_line;
}

namespace bench {

class arguments {
  public:
    // The purpose is the first line of the help.
    explicit arguments(std::string purpose);
    ~arguments();

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
    std::unique_ptr<fult::tools::command_line> line_;
};

} // namespace bench
