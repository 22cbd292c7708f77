#include <fult/detail/processor_groups.hpp>

#include "topology.hpp"

namespace fult::detail {

std::vector<std::vector<unsigned>> processor_groups(processor_level level) {
    return topology().groups(level);
}

} // namespace fult::detail
