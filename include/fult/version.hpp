// The version of the headers; fult_version() tells that of the library.
#pragma once

#define FULT_VERSION_MAJOR 0
#define FULT_VERSION_MINOR 1
#define FULT_VERSION_PATCH 0
#define FULT_VERSION_STRING "0.1.0"
