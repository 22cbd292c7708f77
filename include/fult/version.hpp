// The version of the headers; fult_version() tells that of the library.
#pragma once

// Changes where programs must be changed.
#define FULT_VERSION_MAJOR 0
// Grows with what is added.
#define FULT_VERSION_MINOR 1
// Grows with what is repaired.
#define FULT_VERSION_PATCH 0
// The three as text.
#define FULT_VERSION_STRING "0.1.0"
