// What fult-info and fult-comm-info print of a table of options.
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <string>

#include "fult/base/option_row.hpp"
#include "tools/command_line.hpp"

namespace fult::tools {

// As the document holds it, below its heading. Each variable is a member of `type`.
template <class Options>
void print_markdown(std::span<const detail::option_row<Options>> rows, const char *heading,
                    const char *program, const char *type, const char *remarks) {
    const std::string introduction = std::string("Made by `") + program +
                                     " --markdown`. Each is an environment variable, and a member of `" +
                                     type +
                                     "` in code, which wins. An empty variable counts as unset. A number may "
                                     "end in K, M, G or T, for powers of "
                                     "1024. " +
                                     remarks + " `" + program + "` shows the values in force.";
    std::printf("# %s\n\n%s\n\n| variable | values | default | meaning |\n| --- | --- | --- | --- |\n",
                heading, wrapped(introduction, 0, 118).c_str());
    for (const auto &row : rows)
        std::printf("| `%s` | %s | %s | %s |\n", row.variable, row.values().c_str(), row.by_default().c_str(),
                    row.help);
}

// Each with its value, where that comes from, and its meaning. `remark` may add to the value.
template <class Options>
void print_values(std::span<const detail::option_row<Options>> rows, const Options &now,
                  const std::function<std::string(const std::string &variable)> &remark) {
    for (const auto &row : rows)
        std::printf("  %-24s %-12s %-12s %s [%s]\n", row.variable,
                    (row.print(now) + remark(row.variable)).c_str(),
                    detail::in_environment(row) ? "environment" : "default", row.help, row.values().c_str());
}

} // namespace fult::tools
