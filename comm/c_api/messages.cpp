// Sending and receiving.
#include <vector>

#include "comm/c_api/objects.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;

namespace {

// Converts lists of C structures to those of C++.
template <class To, class From>
std::vector<To> parts_of(const char *call, const From *given, std::size_t count) {
    if (is_missing(given, count))
        throw std::invalid_argument(std::string(call) + ": the list is NULL, and its length is not 0");
    std::vector<To> all;
    all.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (is_missing(given[i].data, given[i].size))
            throw std::invalid_argument(std::string(call) + ": part " + std::to_string(i) + ": " +
                                        no_memory_given);
        all.push_back({given[i].data, given[i].size});
    }
    return all;
}

} // namespace

int fult_comm_send(fult_comm_endpoint_t handle, const void *data, size_t size, int destination, int64_t tag) {
    if (is_missing(data, size))
        return reject_argument("fult_comm_send", no_memory_given);
    return perform(handle, "fult_comm_send", [&](endpoint &ep) { ep.send(data, size, destination, tag); });
}

int fult_comm_ssend(fult_comm_endpoint_t handle, const void *data, size_t size, int destination,
                    int64_t tag) {
    if (is_missing(data, size))
        return reject_argument("fult_comm_ssend", no_memory_given);
    return perform(handle, "fult_comm_ssend", [&](endpoint &ep) { ep.ssend(data, size, destination, tag); });
}

int fult_comm_recv(fult_comm_endpoint_t handle, void *data, size_t size, int source, int64_t tag,
                   fult_comm_envelope *envelope) {
    if (is_missing(data, size))
        return reject_argument("fult_comm_recv", no_memory_given);
    return perform(handle, "fult_comm_recv",
                   [&](endpoint &ep) { write_envelope(envelope, ep.recv(data, size, source, tag)); });
}

int fult_comm_sendrecv(fult_comm_endpoint_t handle, const void *out, size_t out_size, int destination,
                       int64_t out_tag, void *in, size_t in_size, int source, int64_t in_tag,
                       fult_comm_envelope *envelope) {
    if (is_missing(out, out_size) || is_missing(in, in_size))
        return reject_argument("fult_comm_sendrecv", no_memory_given);
    return perform(handle, "fult_comm_sendrecv", [&](endpoint &ep) {
        write_envelope(envelope,
                       ep.sendrecv(out, out_size, destination, out_tag, in, in_size, source, in_tag));
    });
}

int fult_comm_sendv(fult_comm_endpoint_t handle, const fult_comm_const_buffer *buffers, size_t count,
                    int destination, int64_t tag) {
    return perform(handle, "fult_comm_sendv", [&](endpoint &ep) {
        ep.send(parts_of<fult::comm::const_buffer>("fult_comm_sendv", buffers, count), destination, tag);
    });
}

int fult_comm_recvv(fult_comm_endpoint_t handle, const fult_comm_mutable_buffer *buffers, size_t count,
                    int source, int64_t tag, fult_comm_envelope *envelope) {
    return perform(handle, "fult_comm_recvv", [&](endpoint &ep) {
        write_envelope(
            envelope,
            ep.recv(parts_of<fult::comm::mutable_buffer>("fult_comm_recvv", buffers, count), source, tag));
    });
}

int fult_comm_probe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_envelope *envelope) {
    return perform(handle, "fult_comm_probe",
                   [&](endpoint &ep) { write_envelope(envelope, ep.probe(source, tag)); });
}

int fult_comm_try_probe(fult_comm_endpoint_t handle, int source, int64_t tag, fult_comm_envelope *envelope) {
    return call_with(handle, "fult_comm_try_probe", [&](endpoint &ep) {
        const auto found = ep.try_probe(source, tag);
        if (!found)
            return int{FULT_ERR_BUSY};
        write_envelope(envelope, *found);
        return int{FULT_SUCCESS};
    });
}

int fult_comm_enqueue(fult_comm_endpoint_t handle, const void *data, size_t size, int destination,
                      int64_t tag) {
    if (is_missing(data, size))
        return reject_argument("fult_comm_enqueue", no_memory_given);
    return call_with(handle, "fult_comm_enqueue", [&](endpoint &ep) {
        return ep.enqueue(data, size, destination, tag) ? int{FULT_SUCCESS} : int{FULT_ERR_BUSY};
    });
}

int fult_comm_dequeue(fult_comm_endpoint_t handle, void **data, fult_comm_envelope *envelope) {
    if (!data)
        return reject_argument("fult_comm_dequeue", "there is no place for the message's address");
    return call_with(handle, "fult_comm_dequeue", [&](endpoint &ep) {
        auto first = ep.dequeue();
        if (!first)
            return int{FULT_ERR_BUSY};
        write_envelope(envelope, first->envelope);
        *data = first->bytes.release();
        return int{FULT_SUCCESS};
    });
}

void fult_comm_free(void *data) { delete[] static_cast<std::byte *>(data); }
