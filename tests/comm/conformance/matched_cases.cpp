// Synchronous sends, messages taken by a probe, errors as values, and requests that lie anywhere.
#include <memory>
#include <optional>
#include <string>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

constexpr std::size_t matched_sizes[] = {0, 1, 8, 1000, 20'000, 300'000};

void synchronous(party &p) {
    std::uint32_t tag = 100;
    for (const std::size_t size : matched_sizes) {
        ++tag;
        const auto out = bytes_of(size, size);
        std::vector<std::byte> in(size);
        request sent = p.world.issend(out.data(), size, p.next(), tag);
        // All messages of the previous rank are here when this one is; it is not received before that.
        request behind = p.world.isend(std::span(&tag, 1), p.next(), 1);
        require_equal(p.world.recv<std::uint32_t>(p.previous(), 1), tag, "tag");
        behind.wait();
        p.barrier();
        for (int i = 0; i < 20; ++i)
            require(!sent.test(), "no receive has matched it");
        p.barrier();
        require_status(p.world.recv(in, p.previous(), tag), p.previous(), tag, size);
        require(are_bytes_of(size, in), "bytes");
        require_status(sent.wait(), p.next(), tag, size);

        handle<void> sender = spawn([&] { p.world.ssend(out.data(), size, p.next(), tag); });
        require_status(p.world.recv(in, p.previous(), tag), p.previous(), tag, size);
        sender.join();
    }
}

void synchronous_to_itself(party &p) {
    for (const std::size_t size : matched_sizes) {
        const auto out = bytes_of(size, size);
        std::vector<std::byte> in(size);
        request sent = p.world.issend(out.data(), size, p.rank, 3);
        require(!sent.test(), "no receive has matched it");
        p.world.recv(in, p.rank, 3);
        sent.wait();
        require(are_bytes_of(size, in), "bytes");
    }
}

void taken_by_probe(party &p) {
    endpoint open = p.make_endpoint({.wildcards = true});
    for (endpoint *e : {&p.world, &open}) {
        const bool wild = e == &open;
        require(!e->try_mprobe(p.previous(), 50), "nothing there");
        for (const std::size_t size : matched_sizes) {
            const auto first = bytes_of(size, size), second = bytes_of(size + 1, size);
            request a = e->isend(first, p.next(), 51), b = e->isend(second, p.next(), 51);
            matched_message taken = e->mprobe(wild ? any_source : p.previous(), wild ? any_tag : 51);
            require_status(taken.envelope(), p.previous(), 51, size);
            std::vector<std::byte> in(size);
            require_status(e->recv(in, p.previous(), 51), p.previous(), 51, size);
            require(are_bytes_of(size + 1, in), "the other message");
            matched_message moved = std::move(taken);
            require(!taken.valid() && moved.valid(), "moved");
            if (size % 2 == 0) {
                require_status(moved.recv(in.data(), size), p.previous(), 51, size);
            } else {
                request coming = moved.irecv(in.data(), size);
                require_status(coming.wait(), p.previous(), 51, size);
            }
            require(!moved.valid(), "received");
            require(are_bytes_of(size, in), "the first message");
            a.wait();
            b.wait();
        }
        // Too long for its receive.
        for (const std::size_t size : {std::size_t{100}, std::size_t{300'000}}) {
            const auto out = bytes_of(1, size);
            request sent = e->isend(out, p.next(), 52);
            std::byte little[10];
            std::optional<matched_message> taken;
            while (!(taken = e->try_mprobe(p.previous(), 52)))
                this_task::yield();
            errc failure = errc::none;
            require_status(taken->recv(little, sizeof little, failure), p.previous(), 52, size);
            require(failure == errc::truncated, "truncated");
            sent.wait();
        }
        require_throw<std::invalid_argument>([] { matched_message().recv(nullptr, 0); });
        barrier(*e);
    }
}

void errors_as_values(party &p) {
    for (const std::size_t size : matched_sizes) {
        const auto out = bytes_of(size, size);
        std::vector<std::byte> in(size);
        handle<void> sender = spawn([&] {
            for (const bool synchronous : {false, true, false, false}) {
                errc failure = errc::refused;
                if (synchronous)
                    p.world.ssend(out.data(), size, p.next(), 4, failure);
                else
                    p.world.send(out.data(), size, p.next(), 4, failure);
                require(failure == errc::none, "sent");
            }
        });
        errc failure = errc::refused;
        for (int i = 0; i < 2; ++i) {
            require_status(p.world.recv(in.data(), size, p.previous(), 4, failure), p.previous(), 4, size);
            require(failure == errc::none, "received");
            require(are_bytes_of(size, in), "bytes");
        }
        const errc expected = size == 0 ? errc::none : errc::truncated;
        const std::size_t room = size / 2;
        require_status(p.world.recv(in.data(), room, p.previous(), 4, failure), p.previous(), 4, size);
        require(failure == expected, "truncated");
        request coming = p.world.irecv(in.data(), room, p.previous(), 4);
        std::optional<status> got;
        while (!(got = coming.test(failure))) {
            require(failure == errc::none, "not complete");
            this_task::yield();
        }
        require(failure == expected && !coming.valid(), "truncated");
        require_status(*got, p.previous(), 4, size);
        sender.join();
    }
    errc failure = errc::refused;
    request none;
    require(none.is_complete() && none.test(failure) && failure == errc::none, "empty");
    std::byte room[8];
    request never = p.world.irecv(room, sizeof room, p.previous(), 5);
    require(!never.is_complete() && never.cancel(), "cancelled");
    never.wait(failure);
    require(failure == errc::cancelled, "cancelled");
    p.barrier(); // the other rank is still there
}

void requests_anywhere(party &p) {
    int in[3] = {};
    std::unique_ptr<request> all[3];
    for (unsigned i = 0; i < 3; ++i)
        all[i] = std::make_unique<request>(p.world.irecv(&in[i], sizeof in[i], p.previous(), 60 + i));
    request *order[] = {all[2].get(), nullptr, all[0].get(), all[1].get()};
    const int out[] = {7, 8, 9};
    request first = p.world.isend(std::span(&out[0], 1), p.next(), 61);
    require_equal(wait_any(order), std::size_t{3}, "the one with a message");
    errc failure = errc::refused;
    all[1]->wait(failure);
    require(failure == errc::none, "received");
    first.wait();
    p.barrier(); // each has got the first one
    request second = p.world.isend(std::span(&out[1], 1), p.next(), 60);
    request third = p.world.isend(std::span(&out[2], 1), p.next(), 62);
    detail::await_all_of(order);
    second.wait();
    third.wait();
    require(all[0]->is_complete() && all[2]->is_complete(), "complete");
    wait_all(order);
    require(in[0] == 8 && in[1] == 7 && in[2] == 9, "values");
    require_equal(wait_any(order), std::size_t{4}, "none is left");
    p.barrier();
}

constexpr conformance_case all_matched_cases[] = {
    {"synchronous", synchronous},
    {"synchronous_to_itself", synchronous_to_itself},
    {"taken_by_probe", taken_by_probe},
    {"errors_as_values", errors_as_values},
    {"requests_anywhere", requests_anywhere},
};

} // namespace

std::span<const conformance_case> matched_cases() { return all_matched_cases; }

} // namespace fult::comm::testing
