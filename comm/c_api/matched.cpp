// Messages that a probe has taken.
#include <memory>
#include <utility>

#include "comm/c_api/objects.hpp"
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
        return reject_argument("fult_comm_mprobe", no_place);
    *message = nullptr;
    return perform(handle, "fult_comm_mprobe", [&](endpoint &ep) {
        auto room = std::make_unique<fult_comm_message>(); // first: a message that is taken is received
        room->object = ep.mprobe(source, tag);
        write_envelope(envelope, room->object.envelope());
        *message = room.release();
    });
}

int fult_comm_try_mprobe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_message_t *message,
                         fult_comm_envelope *envelope) {
    if (!message)
        return reject_argument("fult_comm_try_mprobe", no_place);
    *message = nullptr;
    return call_with(handle, "fult_comm_try_mprobe", [&](endpoint &ep) {
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
    if (!message || !*message || is_missing(data, size))
        return reject_argument("fult_comm_mrecv", message && *message ? no_memory_given : no_message);
    return status_of("fult_comm_mrecv", [&] {
        const std::unique_ptr<fult_comm_message> one(std::exchange(*message, nullptr));
        write_envelope(envelope, one->object.recv(data, size));
        return int{FULT_SUCCESS};
    });
}

int fult_comm_imrecv(fult_comm_message_t *message, void *data, size_t size, fult_comm_request_t *request) {
    if (!message || !*message || !request || is_missing(data, size))
        return reject_argument("fult_comm_imrecv", !message || !*message ? no_message
                                                   : request             ? no_memory_given
                                                             : "there is no place for the request");
    *request = nullptr;
    return status_of("fult_comm_imrecv", [&] {
        *request = request_handle((*message)->object.irecv(data, size));
        delete std::exchange(*message, nullptr);
        return int{FULT_SUCCESS};
    });
}
