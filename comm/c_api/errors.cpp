#include "comm/c_api/errors.hpp"

#include <fult/detail/platform.hpp>

#include "comm/c_api/objects.hpp"

namespace fult::comm::detail {
namespace {

// One for each kernel thread: a task that fails and immediately asks for the text is on the same one. Its
// address must not be kept across a suspension of the caller: only functions that are not inlined use it.
thread_local std::string last_text;

int status_of_code(errc code) noexcept {
    switch (code) {
    case errc::truncated:
        return FULT_COMM_ERR_TRUNCATED;
    case errc::peer_failed:
        return FULT_COMM_ERR_PEER_FAILED;
    case errc::peer_left:
        return FULT_COMM_ERR_PEER_LEFT;
    case errc::cancelled:
        return FULT_COMM_ERR_CANCELLED;
    case errc::refused:
        return FULT_COMM_ERR_REFUSED;
    case errc::retry:
        return FULT_ERR_NO_MEMORY;
    case errc::none:
        break;
    }
    return FULT_SUCCESS;
}

} // namespace

FULT_OPAQUE FULT_COLD int set_status(int status, const char *text) noexcept {
    try {
        last_text = text;
    } catch (const std::bad_alloc &) {
        last_text.clear(); // the status must suffice
    }
    return status;
}

FULT_COLD int reject_argument(const char *call, const char *what) noexcept {
    try {
        return set_status(FULT_ERR_INVALID, (std::string(call) + ": " + what).c_str());
    } catch (const std::bad_alloc &) {
        return set_status(FULT_ERR_INVALID, what);
    }
}

FULT_COLD int reject_without_endpoint(const char *call) noexcept {
    if (the_context())
        return reject_argument(
            call, "the endpoint is NULL; take fult_comm_world() or one of fult_comm_endpoint_create");
    return set_status(FULT_COMM_ERR_NO_CONTEXT, fult_comm_strerror(FULT_COMM_ERR_NO_CONTEXT));
}

// Derived classes come first.
FULT_COLD int status_of_exception(const char *call) noexcept {
    try {
        throw;
    } catch (const error &e) {
        return set_status(status_of_code(code_of(e)), e.what());
    } catch (const refusal &e) {
        return reject_argument(call, e.what());
    } catch (const std::bad_alloc &) {
        return set_status(FULT_ERR_NO_MEMORY, call);
    } catch (const std::system_error &e) {
        return set_status(FULT_ERR_NO_MEMORY, e.what());
    } catch (const std::length_error &e) {
        return set_status(FULT_ERR_NO_MEMORY, e.what());
    } catch (const std::invalid_argument &e) {
        return set_status(FULT_ERR_INVALID, e.what());
    } catch (const std::out_of_range &e) {
        return set_status(FULT_ERR_INVALID, e.what());
    } catch (const std::logic_error &e) {
        return set_status(FULT_COMM_ERR_IN_USE, e.what());
    } catch (const std::exception &e) {
        return set_status(FULT_COMM_ERR_NETWORK, e.what());
    }
}

} // namespace fult::comm::detail

FULT_OPAQUE const char *fult_comm_error_text(void) { return fult::comm::detail::last_text.c_str(); }

const char *fult_comm_strerror(int status) {
    switch (status) {
    case FULT_COMM_ERR_NO_CONTEXT:
        return "this process is not a rank: call fult_comm_init first, in a task";
    case FULT_COMM_ERR_RUNNING:
        return "this process is a rank already: call fult_comm_finalize before another fult_comm_init";
    case FULT_COMM_ERR_NETWORK:
        return "the launcher, a provider or another rank did not answer: fult_comm_error_text says which, "
               "fult-comm-info what may be set";
    case FULT_COMM_ERR_TRUNCATED:
        return "the message was longer than the memory for it, and is gone: receive it into more, or probe "
               "first";
    case FULT_COMM_ERR_PEER_FAILED:
        return "the other rank has ended or cannot be reached any more: go on without it, or end the job "
               "with fult_comm_abort";
    case FULT_COMM_ERR_PEER_LEFT:
        return "the other rank has finalized and takes part in nothing any more: let every rank make the "
               "calls "
               "that the others count on before fult_comm_finalize";
    case FULT_COMM_ERR_CANCELLED:
        return "the operation was taken back by fult_comm_cancel";
    case FULT_COMM_ERR_IN_USE:
        return "something still goes on that must end first: a collective on this endpoint (make an endpoint "
               "for each task that calls some), or endpoints and regions that are left (destroy them)";
    case FULT_COMM_ERR_REFUSED:
        return "the region of the other rank is not offered any more: agree on when it ends, by a barrier "
               "for one";
    case FULT_ERR_INVALID: // fult_last_error, which fult_strerror names, has only what calls of fult.h refuse
        return "an argument or a FULT_COMM_* variable is out of its range: fult_comm_error_text names it; "
               "see fult/comm.h and `fult-comm-info`";
    default:
        return fult_strerror(status);
    }
}
