// Sending and receiving.
#include <span>
#include <vector>

#include "comm/c_api/objects.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;

namespace {

// Converts lists of C structures to those of C++.
template <class To, class From> std::vector<To> parts_of(const From *list, std::size_t count) {
    const std::span parts(given(list, count, no_list), count); // first: NULL has no memory to reserve
    std::vector<To> all;
    all.reserve(count);
    for (const From &each : parts) {
        if (!each.data && each.size != 0)
            throw refusal("part " + std::to_string(all.size()) + ": " + no_memory_given);
        all.push_back({each.data, each.size});
    }
    return all;
}

} // namespace

int fult_comm_send(fult_comm_endpoint_t handle, const void *data, size_t size, int destination, int64_t tag) {
    return perform(handle, __func__,
                   [&](endpoint &ep) { ep.send(given(data, size), size, destination, tag); });
}

int fult_comm_ssend(fult_comm_endpoint_t handle, const void *data, size_t size, int destination,
                    int64_t tag) {
    return perform(handle, __func__,
                   [&](endpoint &ep) { ep.ssend(given(data, size), size, destination, tag); });
}

int fult_comm_recv(fult_comm_endpoint_t handle, void *data, size_t size, int source, int64_t tag,
                   fult_comm_envelope *envelope) {
    return perform(handle, __func__, [&](endpoint &ep) {
        write_envelope(envelope, ep.recv(given(data, size), size, source, tag));
    });
}

int fult_comm_sendrecv(fult_comm_endpoint_t handle, const void *out, size_t out_size, int destination,
                       int64_t out_tag, void *in, size_t in_size, int source, int64_t in_tag,
                       fult_comm_envelope *envelope) {
    return perform(handle, __func__, [&](endpoint &ep) {
        write_envelope(envelope, ep.sendrecv(given(out, out_size), out_size, destination, out_tag,
                                             given(in, in_size), in_size, source, in_tag));
    });
}

int fult_comm_sendv(fult_comm_endpoint_t handle, const fult_comm_const_buffer *buffers, size_t count,
                    int destination, int64_t tag) {
    return perform(handle, __func__, [&](endpoint &ep) {
        ep.send(parts_of<fult::comm::const_buffer>(buffers, count), destination, tag);
    });
}

int fult_comm_recvv(fult_comm_endpoint_t handle, const fult_comm_mutable_buffer *buffers, size_t count,
                    int source, int64_t tag, fult_comm_envelope *envelope) {
    return perform(handle, __func__, [&](endpoint &ep) {
        write_envelope(envelope, ep.recv(parts_of<fult::comm::mutable_buffer>(buffers, count), source, tag));
    });
}

int fult_comm_probe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_envelope *envelope) {
    return perform(handle, __func__, [&](endpoint &ep) { write_envelope(envelope, ep.probe(source, tag)); });
}

int fult_comm_try_probe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_envelope *envelope) {
    return call_with(handle, __func__, [&](endpoint &ep) {
        const auto found = ep.try_probe(source, tag);
        if (!found)
            return int{FULT_ERR_BUSY};
        write_envelope(envelope, *found);
        return int{FULT_SUCCESS};
    });
}

int fult_comm_enqueue(fult_comm_endpoint_t handle, const void *data, size_t size, int destination,
                      int64_t tag) {
    return call_with(handle, __func__, [&](endpoint &ep) {
        return ep.enqueue(given(data, size), size, destination, tag) ? int{FULT_SUCCESS} : int{FULT_ERR_BUSY};
    });
}

int fult_comm_dequeue(fult_comm_endpoint_t handle, void **data, fult_comm_envelope *envelope) {
    if (!data)
        return reject_argument(__func__, "there is no place for the message's address");
    return call_with(handle, __func__, [&](endpoint &ep) {
        auto first = ep.dequeue();
        if (!first)
            return int{FULT_ERR_BUSY};
        write_envelope(envelope, first->envelope);
        *data = first->bytes.release();
        return int{FULT_SUCCESS};
    });
}

void fult_comm_free(void *data) { delete[] static_cast<std::byte *>(data); }
