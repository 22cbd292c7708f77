// Requests.
#include "comm/c_api/requests.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::request;

namespace {

// Gets the result of a complete request. NULL: an empty result.
int take_result(const char *call, fult_comm_request_t &r, fult_comm_envelope *envelope) noexcept {
    request now = request_pointer::of(target_of(std::exchange(r, nullptr)));
    return status_of(call, [&] {
        write_envelope(envelope, now.wait());
        return int{FULT_SUCCESS};
    });
}

} // namespace

int fult_comm_isend(fult_comm_endpoint_t handle, const void *data, size_t size, int destination, int64_t tag,
                    fult_comm_request_t *request) {
    return begin_request(handle, __func__, request,
                         [&](endpoint &ep) { return ep.isend(given(data, size), size, destination, tag); });
}

int fult_comm_issend(fult_comm_endpoint_t handle, const void *data, size_t size, int destination, int64_t tag,
                     fult_comm_request_t *request) {
    return begin_request(handle, __func__, request,
                         [&](endpoint &ep) { return ep.issend(given(data, size), size, destination, tag); });
}

int fult_comm_irecv(fult_comm_endpoint_t handle, void *data, size_t size, int source, int64_t tag,
                    fult_comm_request_t *request) {
    return begin_request(handle, __func__, request,
                         [&](endpoint &ep) { return ep.irecv(given(data, size), size, source, tag); });
}

int fult_comm_test(fult_comm_request_t *one, fult_comm_envelope *envelope) {
    if (!one)
        return reject_argument(__func__, no_place_for_request);
    if (request_state *p = target_of(*one); p && !p->is_complete()) {
        p->device->progress_fairly();
        if (!p->is_complete())
            return FULT_ERR_BUSY;
    }
    return take_result(__func__, *one, envelope);
}

int fult_comm_wait(fult_comm_request_t *one, fult_comm_envelope *envelope) {
    if (!one)
        return reject_argument(__func__, no_place_for_request);
    return take_result(__func__, *one, envelope);
}

int fult_comm_wait_all(fult_comm_request_t *all, size_t count, fult_comm_envelope *envelopes, int *results) {
    if (!all && count != 0)
        return reject_argument(__func__, no_list);
    await_all(count, [&](std::size_t i) { return target_of(all[i]); });
    int first = FULT_SUCCESS;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        const int result = take_result(__func__, all[i], envelopes ? &envelopes[i] : nullptr);
        if (results)
            results[i] = result;
        if (first == FULT_SUCCESS && result != FULT_SUCCESS) {
            first = result;
            text = fult_comm_error_text();
        }
    }
    return first == FULT_SUCCESS ? first : set_status(first, text.c_str());
}

int fult_comm_wait_any(fult_comm_request_t *all, size_t count, size_t *index, fult_comm_envelope *envelope) {
    if ((!all && count != 0) || !index)
        return reject_argument(__func__, index ? no_list : "there is no place for the index");
    *index = await_any(count, [&](std::size_t i) { return target_of(all[i]); });
    return *index == count ? int{FULT_SUCCESS} : take_result(__func__, all[*index], envelope);
}

int fult_comm_cancel(fult_comm_request_t one) {
    request now = request_pointer::of(target_of(one));
    const bool taken_back = now.cancel();
    request_pointer::release(now); // still owned by the caller
    return taken_back ? FULT_SUCCESS : FULT_ERR_BUSY;
}
