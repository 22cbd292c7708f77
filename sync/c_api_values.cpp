// The C interface: objects that pass values.
#include <cstdint>

#include <fult/sync.h>
#include <fult/sync.hpp>

#include "fult/c_api/c_object.hpp"

using namespace fult::detail;

namespace {
// Stores the value if there is one and `to` is not null.
template <class T> int store_value(const std::optional<T> &value, T *to, int otherwise) noexcept {
    if (!value)
        return otherwise;
    if (to)
        *to = *value;
    return FULT_SUCCESS;
}
} // namespace

struct fult_feb {
    fult::full_empty<std::uint64_t> object;
};
int fult_feb_create(fult_feb_t *feb) { return create(feb); }
int fult_feb_destroy(fult_feb_t feb) { return destroy(feb); }
int fult_feb_readFF(fult_feb_t feb, uint64_t *value) {
    return call_with(
        feb, [&](auto &object) { return store_value(std::optional(object.readFF()), value, FULT_SUCCESS); });
}
int fult_feb_readFE(fult_feb_t feb, uint64_t *value) {
    return call_with(
        feb, [&](auto &object) { return store_value(std::optional(object.readFE()), value, FULT_SUCCESS); });
}
int fult_feb_writeEF(fult_feb_t feb, uint64_t value) {
    return call_with(feb, [&](auto &object) { object.writeEF(value); });
}
int fult_feb_writeF(fult_feb_t feb, uint64_t value) {
    return call_with(feb, [&](auto &object) { object.writeF(value); });
}
int fult_feb_try_readFF(fult_feb_t feb, uint64_t *value) {
    return call_with(feb,
                     [&](auto &object) { return store_value(object.try_readFF(), value, FULT_ERR_BUSY); });
}
int fult_feb_try_readFE(fult_feb_t feb, uint64_t *value) {
    return call_with(feb,
                     [&](auto &object) { return store_value(object.try_readFE(), value, FULT_ERR_BUSY); });
}
int fult_feb_try_writeEF(fult_feb_t feb, uint64_t value) {
    return call_with(feb, [&](auto &object) { return ok_or(object.try_writeEF(value), FULT_ERR_BUSY); });
}
int fult_feb_fill(fult_feb_t feb) {
    return call_with(feb, [](auto &object) { object.fill(); });
}
int fult_feb_purge(fult_feb_t feb) {
    return call_with(feb, [](auto &object) { object.purge(); });
}
int fult_feb_is_full(fult_feb_t feb) { return feb && feb->object.is_full(); }

namespace {
// Values may arrive, and the channel be closed, after an attempt that found none: only an attempt after the
// close shows that nothing is left.
int store_received(fult::channel<void *> &from, std::optional<void *> value, void **to, int otherwise) {
    if (!value && from.closed()) {
        value = from.try_receive();
        otherwise = FULT_ERR_CLOSED;
    }
    return store_value(value, to, otherwise);
}
} // namespace

struct fult_channel {
    explicit fult_channel(std::size_t capacity) : object(capacity) {}
    fult::channel<void *> object;
};
int fult_channel_create(fult_channel_t *channel, size_t capacity) { return create(channel, capacity); }
int fult_channel_destroy(fult_channel_t channel) { return destroy(channel); }
int fult_channel_send(fult_channel_t channel, void *value) {
    return call_with(channel, [&](auto &object) { return ok_or(object.send(value), FULT_ERR_CLOSED); });
}
int fult_channel_trysend(fult_channel_t channel, void *value) {
    return call_with(channel, [&](auto &object) {
        const bool sent = object.try_send(value); // first: it may be closed meanwhile
        return ok_or(sent, object.closed() ? FULT_ERR_CLOSED : FULT_ERR_BUSY);
    });
}
int fult_channel_timedsend(fult_channel_t channel, void *value, int64_t nanoseconds) {
    return call_with(channel, [&](auto &object) {
        const bool sent = object.try_send_for(static_cast<void *&&>(value), to_duration(nanoseconds));
        return ok_or(sent, object.closed() ? FULT_ERR_CLOSED : FULT_ERR_TIMEOUT);
    });
}
int fult_channel_receive(fult_channel_t channel, void **value) {
    return call_with(channel,
                     [&](auto &object) { return store_value(object.receive(), value, FULT_ERR_CLOSED); });
}
int fult_channel_tryreceive(fult_channel_t channel, void **value) {
    return call_with(channel, [&](auto &object) {
        return store_received(object, object.try_receive(), value, FULT_ERR_BUSY);
    });
}
int fult_channel_timedreceive(fult_channel_t channel, void **value, int64_t nanoseconds) {
    return call_with(channel, [&](auto &object) {
        return store_received(object, object.try_receive_for(to_duration(nanoseconds)), value,
                              FULT_ERR_TIMEOUT);
    });
}
int fult_channel_close(fult_channel_t channel) {
    return call_with(channel, [](auto &object) { object.close(); });
}
