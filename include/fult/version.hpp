// The version of the headers; fult_version() tells that of the library. It stands here alone: the build, the
// packages and the tests read it from here.
#pragma once

#include <fult/detail/language.hpp>

// Changes where programs must be changed. As long as it is 0, the second does.
#define FULT_VERSION_MAJOR 0
// Grows with what is added.
#define FULT_VERSION_MINOR 1
// Grows with what is repaired.
#define FULT_VERSION_PATCH 0
// The three as text: "0.1.0".
#define FULT_VERSION_STRING FULT_VERSION_JOINED(FULT_VERSION_MAJOR, FULT_VERSION_MINOR, FULT_VERSION_PATCH)

// For the line above.
#define FULT_VERSION_JOINED(major, minor, patch) \
    FULT_VERSION_TEXT(major) "." FULT_VERSION_TEXT(minor) "." FULT_VERSION_TEXT(patch)
// For that one.
#define FULT_VERSION_TEXT(version) #version
