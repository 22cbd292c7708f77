// Messages that a probe has taken.
#include <memory>
#include <utility>

#include "comm/c_api/objects.hpp"
#include "comm/c_api/requests.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;
using fult::comm::matched_message;

struct fult_comm_message {
    matched_message it;
};

namespace {

constexpr const char *no_place = "there is no place for the message";
constexpr const char *no_message = "there is no message";

} // namespace

int fult_comm_mprobe(fult_comm_endpoint_t on, int source, int64_t tag, fult_comm_message_t *taken,
                     fult_comm_envelope *about) {
    if (!taken)
        return wrong_argument("fult_comm_mprobe", no_place);
    *taken = nullptr;
    return perform(on, "fult_comm_mprobe", [&](endpoint &it) {
        auto room = std::make_unique<fult_comm_message>(); // first: a message that is taken is received
        room->it = it.mprobe(source, tag);
        tell(about, room->it.about());
        *taken = room.release();
    });
}

int fult_comm_try_mprobe(fult_comm_endpoint_t on, int source, int64_t tag, fult_comm_message_t *taken,
                         fult_comm_envelope *about) {
    if (!taken)
        return wrong_argument("fult_comm_try_mprobe", no_place);
    *taken = nullptr;
    return with(on, "fult_comm_try_mprobe", [&](endpoint &it) {
        auto room = std::make_unique<fult_comm_message>();
        auto found = it.try_mprobe(source, tag);
        if (!found)
            return int{FULT_ERR_BUSY};
        room->it = std::move(*found);
        tell(about, room->it.about());
        *taken = room.release();
        return int{FULT_SUCCESS};
    });
}

int fult_comm_mrecv(fult_comm_message_t *taken, void *data, size_t size, fult_comm_envelope *about) {
    if (!taken || !*taken || missing(data, size))
        return wrong_argument("fult_comm_mrecv", taken && *taken ? no_memory_given : no_message);
    return status_of("fult_comm_mrecv", [&] {
        const std::unique_ptr<fult_comm_message> one(std::exchange(*taken, nullptr));
        tell(about, one->it.recv(data, size));
        return int{FULT_SUCCESS};
    });
}

int fult_comm_imrecv(fult_comm_message_t *taken, void *data, size_t size, fult_comm_request_t *begun) {
    if (!taken || !*taken || !begun || missing(data, size))
        return wrong_argument("fult_comm_imrecv", !taken || !*taken ? no_message
                                                  : begun           ? no_memory_given
                                                                    : "there is no place for the request");
    *begun = nullptr;
    return status_of("fult_comm_imrecv", [&] {
        *begun = name_of((*taken)->it.irecv(data, size));
        delete std::exchange(*taken, nullptr);
        return int{FULT_SUCCESS};
    });
}
