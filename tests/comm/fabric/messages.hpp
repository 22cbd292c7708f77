// Messages that contain their sender, size and number, and a receiver that checks it.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/comm/fabric/ranks.hpp"
#include "tests/support/bytes.hpp"

namespace fabric_ranks {

struct head {
    int from;
    int size;
    long number;
};

inline void fill(std::byte *to, std::size_t size, int from, long number) {
    const head h{from, static_cast<int>(size), number};
    std::memcpy(to, &h, sizeof h);
    if (size > sizeof h)
        fult::testing::fill_bytes(static_cast<std::uint64_t>(number + from), sizeof h, to + sizeof h,
                                  size - sizeof h);
}

// Polls events, checks them, and posts the packets again. Free packets of sends go to `idle`.
struct receiver {
    rank_process &me;
    std::vector<long> next;
    std::vector<packet *> idle{};
    long received = 0;

    explicit receiver(rank_process &m) : me(m), next(static_cast<std::size_t>(m.size), 0) {}

    void take() {
        me.poll();
        for (; !me.happened.empty(); me.happened.pop_front()) {
            const event e = me.happened.front();
            require(e.kind != event_kind::lost, "an operation is lost");
            packet &p = static_cast<packet &>(*e.request);
            if (e.kind == event_kind::received) {
                check(p);
                require(me.net->post(p) == outcome::done, "a packet was not posted again");
            } else
                idle.push_back(&p);
        }
    }
    void check(packet &p) {
        head h;
        require(p.size >= sizeof h, "a message is too small");
        std::memcpy(&h, p.data(), sizeof h);
        require(h.from >= 0 && h.from < me.size && h.from != me.rank, "a message from nowhere");
        require(h.size == static_cast<int>(p.size), "a message of another size");
        long &expected = next[static_cast<std::size_t>(h.from)];
        require(h.number == expected, "message " + std::to_string(h.number) + " of rank " +
                                          std::to_string(h.from) + " instead of " + std::to_string(expected));
        ++expected;
        ++received;
        if (p.size > sizeof h)
            require(fult::testing::are_bytes(static_cast<std::uint64_t>(h.number + h.from), sizeof h,
                                             p.data() + sizeof h, p.size - sizeof h),
                    "a message has other bytes");
    }
};

} // namespace fabric_ranks
