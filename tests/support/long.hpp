// Tests of which a short form finds nearly all that the long one does: the suite `long` runs that.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace fult::testing {

// So many rounds; with FULT_TEST_LONG set, as many as the second number says.
inline std::size_t rounds(std::size_t in_short, std::size_t in_long) {
    return std::getenv("FULT_TEST_LONG") != nullptr ? in_long : in_short;
}

} // namespace fult::testing
