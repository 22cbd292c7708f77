/// @file
/// The entry header: includes the whole runtime in C++.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/handle.hpp>
#include <fult/join.hpp>
#include <fult/options.hpp>
#include <fult/runtime.hpp>
#include <fult/spawn.hpp>
#include <fult/task_group.hpp>
#include <fult/task_id.hpp>
#include <fult/task_local.hpp>
#include <fult/this_task.hpp>
#include <fult/version.hpp>
