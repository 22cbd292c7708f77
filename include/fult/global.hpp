/// @file
/// Global memory for the tasks of all ranks: the entry header of fult-global. Link with fult-global.pc.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/comm.hpp>
#include <fult/global/cache.hpp>
#include <fult/global/counter.hpp>
#include <fult/global/errors.hpp>
#include <fult/global/memory.hpp>
#include <fult/global/pointer.hpp>
#include <fult/global/spawn_at.hpp>
#include <fult/global/variable.hpp>
#include <fult/global/vector.hpp>
