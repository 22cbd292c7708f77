// Received packets for whose records there is no memory: they are kept and retried.
#include <cstdio>
#include <utility>

#include "comm/device/receive_path.hpp"

namespace fult::comm::detail {

// The packet is not given back to its transport, so a rank that sends more than there is memory for runs out
// of packets.
void receive_path::defer(packet &p, std::size_t from) noexcept {
    const int source = read(p).source();
    ++core_.peers.of(source).deferred_packets;
    p.rank = static_cast<int>(from);
    deferred_.append(p);
    mark_waiting();
    core_.sleep.interrupt();
    if (std::exchange(no_memory_reported_, true))
        return;
    std::fprintf(
        stderr,
        "fult-comm: rank %d: out of memory, or of tasks, for messages of rank %d; they are delivered when "
        "some is free. Post receives earlier, or lower FULT_COMM_UNEXPECTED\n",
        core_.settings.rank, source);
}

// Packets of one rank do not delay those of another.
void receive_path::retry() noexcept {
    packet *each = deferred_.take_all();
    const auto source_of = [&](const packet &p) -> peer & { return core_.peers.of(read(p).source()); };
    for (packet *p = each; p; p = p->next)
        source_of(*p).lacks_memory = false;
    while (each) {
        packet &p = *std::exchange(each, each->next);
        peer &source = source_of(p);
        const auto from = static_cast<std::size_t>(p.rank);
        source.lacks_memory = source.lacks_memory || !try_packet(p, from);
        if (source.lacks_memory)
            deferred_.append(p);
        else
            --source.deferred_packets;
    }
    mark_waiting();
}

} // namespace fult::comm::detail
