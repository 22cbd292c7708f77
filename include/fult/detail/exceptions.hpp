// Exceptions, where the compiler has them: the headers also compile with -fno-exceptions, for programs that
// neither throw nor catch. There nothing is caught, and what a header would throw ends the program with its
// text; what the library throws ends it by std::terminate. Internal to the library.
#pragma once

#include <fult/detail/language.hpp>

#include <fult/detail/misuse.hpp>

#ifdef __cpp_exceptions
#define FULT_TRY try
#define FULT_CATCH_ALL catch (...)
#define FULT_RETHROW throw
#else
#define FULT_TRY if constexpr (true)
#define FULT_CATCH_ALL if constexpr (false)
#define FULT_RETHROW static_cast<void>(0)
#endif

namespace fult::detail {

template <class Error> [[noreturn]] void raise(Error error) {
#ifdef __cpp_exceptions
    throw error;
#else
    misuse("error in a program without exceptions", error.what());
#endif
}

} // namespace fult::detail
