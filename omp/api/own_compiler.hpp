// The compiler whose library this is compiled into. The loops of each compiler have their own in both.
#pragma once

#include "omp/core/display.hpp"

[[gnu::visibility("hidden")]] extern const fult::omp::compiler_facts own_compiler;
