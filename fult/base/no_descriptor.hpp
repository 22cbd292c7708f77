// Errors of calls of the system that make a descriptor: what they mean, and the remedy.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace fult::detail {

// True if the system does not let this process make the call at all, as a seccomp filter does.
inline bool is_refused(int error) noexcept { return error == EPERM || error == EACCES || error == ENOSYS; }

// `call` as the system names it, such as eventfd2.
inline std::string descriptor_remedy(int error, const char *call) {
    if (is_refused(error))
        return std::string("the system refuses the call ") + call +
               " to this process; allow it in the seccomp filter of its container or sandbox";
    return "raise `ulimit -n`";
}

// `what` is missing: "fult: no descriptor for the timers".
[[noreturn]] inline void throw_no_descriptor(int error, const std::string &what, const char *call) {
    throw std::system_error(error, std::generic_category(), what + "; " + descriptor_remedy(error, call));
}

} // namespace fult::detail
