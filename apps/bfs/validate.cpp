#include "validate.hpp"

#include <array>

namespace bfs {

std::string verdict::text() const {
    constexpr std::array rules{
        "passed",
        "rule 1: vertices of which no path of parents leads to the root",
        "rule 2: vertices that are not one level below their parents",
        "rule 3: edges that join levels more than one apart",
        "rule 4: edges that lead out of the tree",
        "rule 5: vertices that no edge joins to their parents",
    };
    const std::string broken = rules.at(std::size_t(rule));
    return right() ? broken : broken + ": " + std::to_string(times);
}

} // namespace bfs
