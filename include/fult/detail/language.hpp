// Reports one error with a remedy if C++20 is missing, instead of hundreds about declarations that C++17
// cannot parse. Every public header includes this file before its first declaration, directly or through
// another header.
#pragma once

#if __cplusplus < 202002L
#error "FULT needs C++20: add -std=c++20 (Meson: default_options 'cpp_std=c++20'; CMake: feature cxx_std_20)"
#define FULT_DETAIL_NO_CXX20
#elif !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "FULT needs C++20 with concepts: use g++ 12, clang++ 14 or later"
#define FULT_DETAIL_NO_CXX20
#elif !__has_include(<concepts>) || !__has_include(<span>) || !__has_include(<stop_token>)
#error "FULT needs C++20's standard library with std::stop_token: use libstdc++ 12 or later"
#define FULT_DETAIL_NO_CXX20
#endif

// Compilers continue after #error. They stop at a missing file, such as this one.
#ifdef FULT_DETAIL_NO_CXX20
#include <C++20>
#endif
