/// @file
/// The entry header of the parallel loops; docs/loops.md is their manual.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/loops/parallel_for.hpp>
#include <fult/loops/parallel_invoke.hpp>
#include <fult/loops/parallel_reduce.hpp>
#include <fult/loops/parallel_sort.hpp>
#include <fult/loops/schedule.hpp>
