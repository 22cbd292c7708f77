#include "last_error.hpp"

#include <cstdio>

#include <fult/fult.h>

namespace fult::detail {
namespace {
constexpr unsigned longest = 512;
__thread char last[longest]; // no constructor: a plain array
} // namespace

void set_last_error(const char *what) noexcept { std::snprintf(last, longest, "%s", what); }

void set_last_error(const char *call, const char *what) noexcept {
    std::snprintf(last, longest, "%s: %s", call, what);
}

} // namespace fult::detail

const char *fult_last_error(void) { return fult::detail::last; }
