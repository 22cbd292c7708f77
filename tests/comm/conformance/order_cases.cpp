// The guaranteed order, and what must be kept apart.
#include <atomic>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// Messages of one source and tag arrive in order: short ones, long ones that wait at their sender, with and
// without free packets, sent by any call.
void one_tag(party &p) {
    const unsigned count = static_cast<unsigned>(100 + fult::testing::scaled(400));
    const auto size_of = [](unsigned i) {
        return sizeof i + (i % 11 == 0 ? 20'000 : i % 5 == 0 ? 3000 : i % 64);
    };
    handle<void> sender = spawn([&] {
        std::vector<std::vector<std::byte>> kept;
        std::vector<request> requests;
        for (unsigned i = 0; i < count; ++i) {
            std::vector<std::byte> out = bytes_of(i, size_of(i));
            std::memcpy(out.data(), &i, sizeof i);
            if (i % 4 == 0) {
                p.world.send(out, p.next(), 5);
            } else if (i % 4 == 1) {
                while (!p.world.enqueue(out.data(), out.size(), p.next(), 5))
                    this_task::yield();
            } else {
                kept.push_back(std::move(out));
                requests.push_back(p.world.isend(kept.back(), p.next(), 5));
            }
        }
        wait_all(requests);
    });
    for (unsigned i = 0; i < count; ++i) {
        std::vector<std::byte> in(size_of(i));
        require_status(p.world.recv(in, p.previous(), 5), p.previous(), 5, size_of(i));
        unsigned which = 0;
        std::memcpy(&which, in.data(), sizeof which);
        require_equal(which, i, "in order");
    }
    sender.join();
}

// Receives of many tags, in another order than that of the messages.
void many_tags(party &p) {
    outbox out(p.world);
    constexpr std::uint32_t count = 300;
    for (std::uint32_t tag = 0; tag < count; ++tag)
        out.send(tag * 7, p.next(), tag << 20);
    for (std::uint32_t tag = count; tag-- > 0;)
        require_equal(p.world.recv<std::uint32_t>(p.previous(), tag << 20), tag * 7, "by its tag");
}

// Messages of one endpoint never meet those of another.
void several_endpoints(party &p) {
    std::vector<endpoint> all;
    for (int i = 0; i < 5; ++i)
        all.push_back(p.make_endpoint({.wildcards = i % 2 == 1}));
    std::deque<outbox> boxes;
    for (int i = 0; i < 5; ++i)
        boxes.emplace_back(all[static_cast<std::size_t>(i)]).send(i * 10 + p.rank, p.next(), 1);
    for (int i = 4; i >= 0; --i)
        require_equal(all[static_cast<std::size_t>(i)].recv<int>(p.previous(), 1), i * 10 + p.previous(),
                      "endpoint");
    for (int i = 0; i < 5; ++i)
        require(!all[static_cast<std::size_t>(i)].try_probe(p.previous(), 1), "nothing is left");
}

// Messages that arrive before their endpoint is made: two short ones and a long one from each other rank.
void late_endpoint(party &p) {
    endpoint_options kinds[] = {{},
                                {.wildcards = true},
                                {.delivery = delivery::queued},
                                {.delivery = delivery::handler},
                                {.delivery = delivery::task}};
    for (endpoint_options &kind : kinds) {
        std::vector<std::atomic<int>> come(static_cast<std::size_t>(p.size));
        std::atomic<int> all_come{0};
        std::atomic<bool> wrong{false};
        const auto note = [&](const status &envelope, std::span<const std::byte> bytes) {
            const int which = ++come[static_cast<std::size_t>(envelope.source)];
            const bool ordered = kind.delivery == delivery::task || static_cast<int>(bytes[0]) == which;
            if (!ordered || bytes.size() != envelope.size || (bytes[0] == std::byte{3}) != (bytes.size() > 1))
                wrong = true;
            ++all_come;
        };
        if (kind.delivery == delivery::handler || kind.delivery == delivery::task)
            kind.handler = note;
        if (p.rank != 0)
            p.world.recv<int>(0, 99); // comes behind those of the other endpoint
        endpoint here = p.make_endpoint(kind);
        const std::vector<std::byte> large(50'000, std::byte{3});
        outbox out(here), others(p.world);
        for (int to = 0; to < p.size; ++to) {
            if (to == p.rank)
                continue;
            out.send(std::byte{1}, to, 1);
            out.send(std::byte{2}, to, 1);
            out.send(large, to, 1);
            if (p.rank == 0)
                others.send(0, to, 99);
        }
        for (int from = 0; from < p.size && kind.delivery == delivery::matched; ++from)
            for (int i = 0; i < 3 && from != p.rank; ++i) {
                std::vector<std::byte> in(large.size());
                const status got = here.recv(in, from, 1);
                note(got, std::span(in).first(got.size));
            }
        while (all_come != 3 * (p.size - 1)) {
            if (kind.delivery == delivery::queued)
                if (const auto m = here.dequeue())
                    note(m->envelope, m->view());
            this_task::yield();
        }
        require(!wrong, "order and bytes");
        p.barrier();
    }
}

constexpr conformance_case all_order_cases[] = {
    {"one_tag", one_tag},
    {"many_tags", many_tags},
    {"several_endpoints", several_endpoints},
    {"late_endpoint", late_endpoint},
};

} // namespace

std::span<const conformance_case> order_cases() { return all_order_cases; }

} // namespace fult::comm::testing
