// The cases between ranks of this process, each a task.
#include <gtest/gtest.h>

#include "tests/comm/conformance/between_ranks.hpp"
#include "tests/global/cases.hpp"

namespace {

using namespace fult::comm::testing;
using fult::global::testing::global_cases;

struct global_memory : between_ranks {};

TEST_P(global_memory, does_what_it_must) { run(); }

INSTANTIATE_TEST_SUITE_P(ranks, global_memory,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::ValuesIn(global_cases().begin(),
                                                                global_cases().end())),
                         name_of);

} // namespace
