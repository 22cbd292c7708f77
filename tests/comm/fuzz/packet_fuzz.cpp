// libFuzzer: all input from the network. The input is cut into packets, which a rank receives as if from
// other ranks, between its own sends and receives.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "comm/device/device.hpp"
#include "comm/device/endpoint_state.hpp"
#include "comm/device/one_sided.hpp"
#include "comm/packets/wire.hpp"
#include "comm/transport/loopback.hpp"

extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
    return "allocator_may_return_null=1:max_allocation_size_mb=256:detect_leaks=0";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    using namespace fult;
    using namespace fult::comm;
    if (size == 0)
        return 0;
    comm::detail::loopback_settings network;
    network.one_sided = (data[0] & 1) != 0;
    const auto hub = comm::detail::make_loopback_hub(2, network);
    // Only a device: a job would wait at its end for ranks that do not exist.
    comm::detail::device_settings of;
    of.size = 2;
    of.packets = 64;
    of.gather = false;
    std::vector<std::unique_ptr<comm::detail::transport>> transports;
    transports.push_back(comm::detail::open_loopback(hub, 0));
    comm::detail::device on(of, std::move(transports), {-1, 0});
    {
        comm::detail::endpoint_state plain(on, 0, {}), wild(on, 1, {.wildcards = true}),
            queued(on, 2, {.delivery = delivery::queued});
        static std::byte room[3][4096];
        comm::detail::receive receives[3];
        comm::detail::send_operation send;
        for (unsigned i = 0; i < 3; ++i) {
            comm::detail::receive &r = receives[i];
            r.finished = [](comm::detail::operation &op, comm::detail::callback_queue *) noexcept {
                static_cast<comm::detail::receive &>(op).message_size = ~std::size_t{0};
            };
            r.data = room[i];
            r.room = sizeof room[i];
            r.endpoint = i == 2 ? &wild : &plain;
            r.endpoint_id = r.endpoint->id;
            r.source = i == 2 ? any_source : 1;
            r.tag = i == 2 ? any_tag : static_cast<std::int64_t>(i);
            on.post(r);
        }
        static std::byte out[20'000];
        send.finished = [](comm::detail::operation &, comm::detail::callback_queue *) noexcept {};
        send.data = out;
        send.size = sizeof out;
        send.rank = 1;
        on.send(send);
        // Regions that others access, and accesses of this rank that others answer.
        static std::byte shown[5000];
        comm::detail::region_state writable, readable;
        writable.base = readable.base = shown;
        writable.size = readable.size = sizeof shown;
        writable.writable = true;
        on.remote_memory().offer(writable);
        on.remote_memory().offer(readable);
        static std::byte moved[4][20'000];
        comm::detail::access accesses[4];
        for (unsigned i = 0; i < 4; ++i) {
            comm::detail::access &a = accesses[i];
            a.finished = [](comm::detail::operation &, comm::detail::callback_queue *) noexcept {};
            a.is_put = i % 2 == 0;
            a.has_signal = i == 0;
            a.local = moved[i];
            a.size = i < 2 ? 100 : sizeof moved[i];
            a.outgoing_record::rank = 1;
            a.endpoint = &plain;
            on.remote_memory().begin(a);
        }
        for (std::size_t at = 1; at < size;) {
            const std::size_t wanted = data[at++] * 4U;
            const std::size_t length = std::min(wanted, size - at);
            std::vector<std::byte> packet(sizeof(comm::detail::packet_head) + length);
            const comm::detail::packet_head head{comm::detail::packet_head::expected, 1};
            std::memcpy(packet.data(), &head, sizeof head);
            if (length != 0)
                std::memcpy(packet.data() + sizeof head, data + at, length);
            at += length;
            comm::detail::inject_bytes(*hub, 0, packet.data(), packet.size());
            for (int i = 0; i < 3; ++i)
                on.progress();
            while (queued.dequeue())
                ;
        }
        on.remote_memory().deregister_memory(readable); // while it is in use
        on.progress();
        on.fail_peer(1); // ends what is still pending
        for (int i = 0; i < 3; ++i)
            on.progress();
        on.remote_memory().deregister_memory(writable);
        for (comm::detail::receive &r : receives)
            on.cancel(r);
    }
    return 0;
}
