// Messages that a probe has taken.
#include <memory>
#include <utility>

#include "comm/c_api/requests.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::matched_message;

struct fult_comm_message {
    matched_message object;
};

namespace {

constexpr const char *no_place = "there is no place for the message";
constexpr const char *no_message = "there is no message";

} // namespace

int fult_comm_mprobe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_message_t *message,
                     fult_comm_envelope *envelope) {
    if (!message)
        return reject_argument(__func__, no_place);
    *message = nullptr;
    return perform(handle, __func__, [&](endpoint &ep) {
        auto room = std::make_unique<fult_comm_message>(); // first: a message that is taken is received
        room->object = ep.mprobe(source, tag);
        write_envelope(envelope, room->object.envelope());
        *message = room.release();
    });
}

int fult_comm_try_mprobe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_message_t *message,
                         fult_comm_envelope *envelope) {
    if (!message)
        return reject_argument(__func__, no_place);
    *message = nullptr;
    return call_with(handle, __func__, [&](endpoint &ep) {
        auto room = std::make_unique<fult_comm_message>();
        auto found = ep.try_mprobe(source, tag);
        if (!found)
            return int{FULT_ERR_BUSY};
        room->object = std::move(*found);
        write_envelope(envelope, room->object.envelope());
        *message = room.release();
        return int{FULT_SUCCESS};
    });
}

int fult_comm_mrecv(fult_comm_message_t *message, void *data, size_t size, fult_comm_envelope *envelope) {
    if (!message || !*message)
        return reject_argument(__func__, no_message);
    return status_of(__func__, [&] {
        given(data, size);
        const std::unique_ptr<fult_comm_message> one(std::exchange(*message, nullptr));
        write_envelope(envelope, one->object.recv(data, size));
        return int{FULT_SUCCESS};
    });
}

int fult_comm_imrecv(fult_comm_message_t *message, void *data, size_t size, fult_comm_request_t *request) {
    if (!message || !*message || !request)
        return reject_argument(__func__, request ? no_message : no_place_for_request);
    *request = nullptr;
    return status_of(__func__, [&] {
        *request = request_handle((*message)->object.irecv(given(data, size), size));
        delete std::exchange(*message, nullptr);
        return int{FULT_SUCCESS};
    });
}
