// For code that needs memory, or a thread, where no caller could handle the lack of it.
//
// The policy of this library: what is needed to finish an operation is reserved when it begins, or when its
// peer, endpoint or device is made. What arrives and finds no memory waits for some. What remains (the end of
// a context, the transport for tests) ends the program with a message.
#pragma once

#include <new>
#include <system_error>

#include <fult/detail/misuse.hpp>

namespace fult::comm::detail {

// Returns f(). If there is no memory or no thread for it, the program ends; `call` is in its message.
template <class F> auto require_resources(const char *call, F f) noexcept {
    try {
        return f();
    } catch (const std::bad_alloc &) {
        fult::detail::misuse(call, "there is no memory left; raise the limit (`ulimit -v`, or that of the "
                                   "container), or lower FULT_COMM_UNEXPECTED");
    } catch (const std::system_error &) {
        fult::detail::misuse(call,
                             "no thread can be started; raise `ulimit -u`, or the limit of the container");
    }
}

} // namespace fult::comm::detail
