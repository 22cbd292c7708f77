#include "tests/comm/conformance/soak.hpp"

#include <atomic>
#include <csignal>
#include <cstdio>

namespace fult::comm::testing {
namespace {

constexpr std::uint32_t tags = 3;

std::size_t size_of(int i) {
    constexpr std::size_t sizes[] = {8, 100, 1500, 7000, 8100, 20'000, 65'000};
    return sizes[static_cast<std::size_t>(i) % std::size(sizes)] + static_cast<std::size_t>(i) % 5;
}

std::uint64_t seed_of(int from, int to, std::uint32_t tag, int i) {
    return ((static_cast<std::uint64_t>(from) * 31 + static_cast<std::uint64_t>(to)) * 31 + tag) * 100'003 +
           static_cast<std::uint64_t>(i);
}

struct soaking {
    context &net;
    const int count;
    const int victim; // -1: none
    std::atomic<int> received{0};
    std::atomic<int> cut_short{0}; // tasks that the loss has ended

    // A step with that rank; returns whether to continue.
    template <class F> bool attempt(int with, F step) {
        try {
            step();
            return true;
        } catch (const error &e) {
            require(e.code() == errc::peer_failed && with == victim, e.what());
            ++cut_short;
            return false;
        }
    }

    void send_all(endpoint &e, int to, std::uint32_t tag) {
        for (int i = 0; i < count; ++i) {
            const std::vector<std::byte> out = bytes_of(seed_of(net.rank(), to, tag, i), size_of(i));
            if (!attempt(to, [&] { e.send(out, to, tag); }))
                return;
        }
    }

    void receive_all(endpoint &e, int from, std::uint32_t tag) {
        std::vector<std::byte> in(70'000);
        for (int i = 0; i < count; ++i) {
            status got;
            if (!attempt(from, [&] { got = e.recv(in, from, tag); }))
                return;
            require_status(got, from, tag, size_of(i));
            require(are_bytes_of(seed_of(from, net.rank(), tag, i), std::span(in).first(got.size)),
                    "message " + std::to_string(i) + " of rank " + std::to_string(from));
            if (++received == count && net.rank() == victim)
                std::raise(SIGKILL);
        }
    }

    void run() {
        endpoint e = net.make_endpoint({});
        comm::barrier(net.world());
        std::vector<handle<void>> tasks;
        for (int other = 0; other < net.size(); ++other)
            for (std::uint32_t tag = 0; tag < tags && other != net.rank(); ++tag) {
                tasks.push_back(spawn([&, other, tag] { send_all(e, other, tag); }));
                tasks.push_back(spawn([&, other, tag] { receive_all(e, other, tag); }));
            }
        join_all(tasks);
    }
};

} // namespace

void soak(context &net, int count) {
    soaking all{net, count, -1};
    all.run();
    require_equal(all.received.load(), (net.size() - 1) * static_cast<int>(tags) * count, "messages");
    comm::barrier(net.world());
    if (net.rank() == 0)
        std::printf("soak: ok\n");
}

void soak_with_a_loss(context &net, int count) {
    soaking all{net, count, net.size() - 1};
    all.run();
    require(net.has_failed(all.victim), "known as failed");
    require(all.cut_short > 0, "it was lost on its way");
    require(all.received >= (net.size() - 2) * static_cast<int>(tags) * count, "messages of the others");
    // No barrier of all can be had any more.
    for (int other = 0; other < all.victim; ++other)
        if (other != net.rank())
            net.world().send(1, other, 1);
    for (int other = 0; other < all.victim; ++other)
        if (other != net.rank())
            net.world().recv<int>(other, 1);
    if (net.rank() == 0)
        std::printf("soak_with_a_loss: ok\n");
}

} // namespace fult::comm::testing
