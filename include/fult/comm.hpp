/// @file
/// Messages between tasks of several processes: the entry header of fult-comm. Link with fult-comm.pc.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/comm/collectives.hpp>
#include <fult/comm/completion.hpp>
#include <fult/comm/context.hpp>
#include <fult/comm/endpoint.hpp>
#include <fult/comm/one_sided.hpp>
#include <fult/comm/request.hpp>
#include <fult/comm/status.hpp>
#include <fult/fult.hpp>
