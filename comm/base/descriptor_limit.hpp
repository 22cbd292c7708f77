// Errors whose cause is the limit on file descriptors.
#pragma once

#include <cerrno>
#include <string>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include "fult/base/no_descriptor.hpp"

namespace fult::comm::detail {

// True if only a few more descriptors can be opened.
inline bool is_descriptor_limit_near() noexcept {
    constexpr int many = 32;
    int probes[many], count = 0;
    while (count < many && (probes[count] = ::eventfd(0, EFD_CLOEXEC)) >= 0)
        ++count;
    const bool few = count < many && !fult::detail::is_refused(errno); // a refusal shows no limit
    while (count > 0)
        ::close(probes[--count]);
    return few;
}

// The remedy if that limit is, or may be, the cause of `error`; else nullptr. Libraries report it as other
// errors, too, after they have closed what they had opened. Preserves errno.
inline const char *descriptor_shortage(int error) noexcept {
    const int saved = errno;
    const bool few = error == EMFILE || is_descriptor_limit_near();
    errno = saved;
    return few ? "this process may open few more descriptors, or none: raise `ulimit -n`" : nullptr;
}

// Throws std::system_error of errno: what is unavailable, and the remedy.
[[noreturn]] inline void throw_shortage(const std::string &what, const std::string &remedy) {
    const char *lacking = descriptor_shortage(errno);
    throw std::system_error(errno, std::generic_category(),
                            "fult-comm: " + what + "; " + (lacking ? lacking : remedy));
}

} // namespace fult::comm::detail
