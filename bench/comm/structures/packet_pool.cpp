// A packet taken and given back, nanoseconds for both, beside a stack and a queue of Boost.Lockfree that hold
// the same packets. Each thread takes 1 to 16 packets, writes into each, and gives them back.
#include "comm/packets/packet_pool.hpp"

#include <cstdint>

#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/stack.hpp>

#include "comm/structures/structures.hpp"

namespace {
using namespace bench;
using fult::comm::detail::packet;
using fult::comm::detail::packet_pool;
using fult::comm::detail::packet_pool_options;

constexpr unsigned packets = 1024, most_at_once = 16;

packet_pool_options options(unsigned threads) {
    packet_pool_options o;
    o.packets = packets;
    o.reserve = 64;
    o.parts = threads;
    return o;
}

struct ours {
    packet_pool pool;
    explicit ours(unsigned threads) : pool(options(threads)) {}
    packet *take(unsigned thread) { return pool.take(thread); }
    void give(unsigned thread, packet &p) { pool.give(thread, p); }
};

template <class Container> struct theirs {
    packet_pool memory;
    Container all{packets};
    explicit theirs(unsigned threads) : memory(options(threads)) {
        while (packet *const p = memory.take(0))
            all.bounded_push(p);
    }
    packet *take(unsigned) {
        packet *p;
        return all.pop(p) ? p : nullptr;
    }
    void give(unsigned, packet &p) { all.bounded_push(&p); }
};
using stack = theirs<boost::lockfree::stack<packet *>>;
using queue = theirs<boost::lockfree::queue<packet *>>;

template <class Pool> std::string measure_pool(unsigned threads, double &ns) {
    Pool pool(threads);
    std::atomic<unsigned long> missing{0};
    const auto body = [&](unsigned thread, unsigned long operations) {
        std::uint32_t random = thread * 2654435761u + 1;
        packet *mine[most_at_once];
        for (unsigned long done = 0; done < operations;) {
            random = random * 1664525u + 1013904223u;
            const unsigned n = 1 + (random >> 28);
            for (unsigned i = 0; i < n; ++i) {
                mine[i] = pool.take(thread);
                if (!mine[i]) {
                    ++missing;
                    return;
                }
                mine[i]->size = random;
                *mine[i]->data() = std::byte(i);
            }
            for (unsigned i = n; i-- > 0;)
                pool.give(thread, *mine[i]);
            done += n;
        }
    };
    ns_an_operation(threads, 10'000, body); // warm
    ns = ns_an_operation(threads, 1'000'000 / threads, body);
    return missing == 0 ? "" : "a pool with packets gave none";
}

std::string one_round() {
    std::string wrong;
    for (const unsigned threads : structure_threads) {
        double mine, by_stack, by_queue;
        wrong += measure_pool<ours>(threads, mine);
        wrong += measure_pool<stack>(threads, by_stack);
        wrong += measure_pool<queue>(threads, by_queue);
        report({"packet_pool", threads_text(threads), "fult", threads, mine, "ns"}, "Boost.Lockfree stack",
               by_stack);
        report({"packet_pool", threads_text(threads) + ", against a queue", "fult", threads, mine, "ns"},
               "Boost.Lockfree queue", by_queue);
    }
    return wrong;
}
} // namespace

int main(int argc, char **argv) {
    kernel_settings settings;
    arguments line("packet_pool: a packet taken and returned by 1 to 8 threads, nanoseconds.");
    line.option("--rounds", settings.rounds, "number of measurements; each writes a record");
    line.parse(argc, argv);
    return run_micro("packet_pool", structures_version, settings, one_round);
}
