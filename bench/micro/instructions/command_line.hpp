// The command line of the programs whose operations are counted: OPERATION COUNT.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "tools/command_line.hpp"

namespace bench {

struct counted_operation {
    std::string name;
    unsigned long count = 0;

    // `operations`: a map by name. Returns the exit status if the program shall end.
    template <class Operations>
    std::optional<int> read(const char *about, const Operations &operations, int argc, char **argv) {
        fult::tools::command_line line(about);
        line.add_option("OPERATION", name, "the operation to count")
            ->required()
            ->check(CLI::IsMember(&operations));
        line.add_option("COUNT", count, "number of operations")
            ->required()
            ->type_name("")
            ->transform(fult::tools::whole_number(1UL, std::numeric_limits<unsigned long>::max()));
        return line.read(argc, argv);
    }
};

} // namespace bench
