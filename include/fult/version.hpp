/// @file
/// The version of the headers; fult_version() returns that of the library. Defined only here: the build, the
/// packages and the tests read it from this file.
#pragma once

#include <fult/detail/language.hpp>

/// Increments with incompatible changes. While it is 0, the minor version does.
#define FULT_VERSION_MAJOR 0
/// Increments with new features.
#define FULT_VERSION_MINOR 1
/// Increments with fixes.
#define FULT_VERSION_PATCH 0
/// The version as text: "0.1.0".
#define FULT_VERSION_STRING FULT_VERSION_JOINED(FULT_VERSION_MAJOR, FULT_VERSION_MINOR, FULT_VERSION_PATCH)

/// Helper of the line above.
#define FULT_VERSION_JOINED(major, minor, patch) \
    FULT_VERSION_TEXT(major) "." FULT_VERSION_TEXT(minor) "." FULT_VERSION_TEXT(patch)
/// Helper of FULT_VERSION_JOINED.
#define FULT_VERSION_TEXT(version) #version
