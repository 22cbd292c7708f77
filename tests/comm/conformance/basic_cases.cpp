// Blocking calls: sizes, types, buffers, and errors.
#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// Receives wait for their messages.
void sizes_expected(party &p) {
    for (const std::size_t size : border_sizes()) {
        std::vector<std::byte> in(size);
        request got = p.world.irecv(in, p.previous(), 1);
        p.barrier();
        p.world.send(bytes_of(size + static_cast<unsigned>(p.rank), size), p.next(), 1);
        require_status(got.wait(), p.previous(), 1, size);
        require(are_bytes_of(size + static_cast<unsigned>(p.previous()), in),
                "bytes of " + std::to_string(size));
    }
}

// Messages wait for their receives, all sizes at a time and in one queue.
void sizes_unexpected(party &p) {
    const std::vector<std::size_t> sizes = border_sizes();
    std::vector<std::vector<std::byte>> out;
    std::vector<request> sends;
    for (const std::size_t size : sizes) {
        out.push_back(bytes_of(size * 3 + static_cast<unsigned>(p.rank), size));
        sends.push_back(p.world.isend(out.back(), p.next(), 2));
    }
    p.barrier();
    for (const std::size_t size : sizes) {
        std::vector<std::byte> in(size + 5, std::byte{0xcc});
        require_status(p.world.recv(in, p.previous(), 2), p.previous(), 2, size);
        require(are_bytes_of(size * 3 + static_cast<unsigned>(p.previous()), std::span(in).first(size)),
                "bytes of " + std::to_string(size));
        require(std::span(in).last(5)[0] == std::byte{0xcc}, "nothing behind the message is written");
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
        require_status(sends[i].wait(), p.next(), 2, sizes[i]);
}

// Blocking sends of every size, each by a task of its own, to every rank, this one included.
void sizes_blocking(party &p) {
    std::vector<handle<void>> senders;
    for (int to = 0; to < p.size; ++to)
        senders.push_back(spawn([&p, to] {
            for (const std::size_t size : border_sizes())
                p.world.send(bytes_of(size + 7, size), to, 3);
        }));
    for (int from = 0; from < p.size; ++from)
        for (const std::size_t size : border_sizes()) {
            std::vector<std::byte> in(size);
            require_status(p.world.recv(in, from, 3), from, 3, size);
            require(are_bytes_of(size + 7, in), "bytes of " + std::to_string(size));
        }
    join_all(senders);
}

struct point {
    double x, y;
    int id;
    bool operator==(const point &) const = default;
};

void typed(party &p) {
    outbox out(p.world);
    const point mine{1.5, -2.5, p.rank};
    out.send(mine, p.next(), 1);
    const auto value = p.world.recv<point>(p.previous(), 1);
    require(value == point{1.5, -2.5, p.previous()}, "a structure");

    std::vector<double> row(1000);
    std::iota(row.begin(), row.end(), p.rank);
    request sent = p.world.isend(row, p.next(), 2);
    std::vector<double> other(1000);
    require_status(p.world.recv(other, p.previous(), 2), p.previous(), 2, 8000);
    require(other[0] == p.previous() && other[999] == p.previous() + 999, "a vector");
    sent.wait();

    const std::array<short, 3> three{1, 2, 3};
    std::array<short, 4> four{};
    request short_one = p.world.isend(three, p.next(), 3);
    require_status(p.world.recv(four, p.previous(), 3), p.previous(), 3, 6);
    short_one.wait();
    require(four == std::array<short, 4>{1, 2, 3, 0}, "an array");

    point started{};
    request into_started = p.world.irecv(started, p.previous(), 4);
    request from_mine = p.world.isend(mine, p.next(), 4);
    into_started.wait();
    from_mine.wait();
    require(started == point{1.5, -2.5, p.previous()}, "a structure, by requests");

    point into{};
    out.send(mine, p.next(), 4);
    p.world.recv(into, p.previous(), 4);
    require(into == value, "into a value");

    out.send(std::int16_t{5}, p.next(), 5);
    require_throw<std::length_error>([&] { p.world.recv<std::int64_t>(p.previous(), 5); });
    out.send(std::int64_t{5}, p.next(), 5);
    require_error(errc::truncated, [&] { p.world.recv<std::int16_t>(p.previous(), 5); });
    out.send(std::int16_t{6}, p.next(), 5);
    require_equal(p.world.recv<std::int16_t>(p.previous(), 5), 6, "after both errors");
}

// A message gathered from pieces, and scattered into others.
void pieces(party &p) {
    for (const std::size_t size : {std::size_t{30}, std::size_t{6000}, std::size_t{300'000}}) {
        const std::vector<std::byte> all = bytes_of(size, size);
        const std::size_t third = size / 3;
        const const_buffer parts[] = {{all.data(), third},
                                      {nullptr, 0},
                                      {all.data() + third, 1},
                                      {all.data() + third + 1, size - third - 1}};
        std::vector<std::byte> in(size + 10);
        const mutable_buffer rooms[] = {{in.data() + size / 2, size - size / 2 + 10},
                                        {nullptr, 0},
                                        {in.data(), 2},
                                        {in.data() + 2, size / 2 - 2}};
        handle<void> sender = spawn([&] { p.world.send(parts, p.next(), 6); });
        require_status(p.world.recv(rooms, p.previous(), 6), p.previous(), 6, size);
        sender.join();
        // The first buffer takes more than half of it, the last one the rest.
        const std::size_t first = size - size / 2 + 10;
        require(std::equal(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first),
                           in.begin() + static_cast<std::ptrdiff_t>(size / 2)),
                "the first room");
        require(std::equal(all.begin() + static_cast<std::ptrdiff_t>(first), all.end(), in.begin()),
                "the other rooms");
    }
}

void sendrecv(party &p) {
    for (const std::size_t size : border_sizes()) {
        const std::vector<std::byte> out = bytes_of(static_cast<unsigned>(p.rank) + size, size);
        std::vector<std::byte> in(size);
        const status got = p.world.sendrecv(out.data(), size, p.next(), 8, in.data(), size, p.previous(), 8);
        require_status(got, p.previous(), 8, size);
        require(are_bytes_of(static_cast<unsigned>(p.previous()) + size, in), "bytes");
    }
}

// A message that is too long for the buffer: the error names both sizes, and the ranks continue.
void truncation(party &p) {
    outbox later(p.world);
    for (const std::size_t size :
         {std::size_t{9}, std::size_t{4000}, std::size_t{10'000}, std::size_t{100'000}})
        for (const bool early : {false, true}) {
            std::byte small[8];
            const std::vector<std::byte> out = bytes_of(1, size);
            request got;
            if (early)
                got = p.world.irecv(small, 8, p.previous(), 9);
            p.barrier();
            request sent = p.world.isend(out, p.next(), 9);
            const std::string what = require_error(errc::truncated, [&] {
                if (early)
                    got.wait();
                else
                    p.world.recv(small, 8, p.previous(), 9);
            });
            require(what.find(std::to_string(size) + " ") != std::string::npos,
                    "the message's size: " + what);
            require(what.find(" room for 8;") != std::string::npos, "the buffer's size: " + what);
            sent.wait(); // the sender does not mind
            later.send(p.rank, p.next(), 9);
            require_equal(p.world.recv<int>(p.previous(), 9), p.previous(), "the next message");
        }
}

void to_itself(party &p) {
    outbox box(p.world);
    box.send(1, p.rank, 10); // no task waits for it yet
    box.send(2, p.rank, 10);
    require_equal(p.world.recv<int>(p.rank, 10), 1, "first");
    require_equal(p.world.recv<int>(p.rank, 10), 2, "second");
    int later = 0;
    request waiting = p.world.irecv(std::span(&later, 1), p.rank, 10);
    box.send(3, p.rank, 10);
    require_status(waiting.wait(), p.rank, 10, sizeof later);
    require_equal(later, 3, "expected");

    const std::size_t size = 200'000;
    const std::vector<std::byte> out = bytes_of(10, size);
    std::vector<std::byte> in(size);
    request sent = p.world.isend(out, p.rank, 10);
    require(!sent.test(), "a long message waits for its receive");
    require_status(p.world.recv(in, p.rank, 10), p.rank, 10, size);
    require(in == out, "bytes");
    require_status(sent.wait(), p.rank, 10, size);

    std::vector<std::byte> again(size);
    request coming = p.world.irecv(again, p.rank, 11);
    p.world.send(out, p.rank, 11);
    coming.wait();
    require(again == out, "bytes where the receive was first");
    std::byte small[8];
    request too_long = p.world.isend(out, p.rank, 12);
    require_error(errc::truncated, [&] { p.world.recv(small, sizeof small, p.rank, 12); });
    too_long.wait();
}

void wrong_arguments(party &p) {
    int value = 0;
    for (const int invalid : {p.size, -1, -7, 1 << 20}) {
        require_throw<std::out_of_range>([&] { p.world.send(value, invalid, 0); });
        require_throw<std::out_of_range>([&] { (void)p.world.isend(std::span(&value, 1), invalid, 0); });
        require_throw<std::out_of_range>([&] { (void)p.world.enqueue(&value, sizeof value, invalid, 0); });
        if (invalid == any_source)
            continue;
        require_throw<std::out_of_range>([&] { p.world.recv(value, invalid, 0); });
        require_throw<std::out_of_range>([&] { (void)p.world.try_probe(invalid, 0); });
    }
    for (const std::int64_t tag : {std::int64_t{-2}, std::int64_t{1} << 32}) {
        require_throw<std::out_of_range>([&] { p.world.recv(value, 0, tag); });
        require_throw<std::out_of_range>([&] { (void)p.world.irecv(std::span(&value, 1), 0, tag); });
    }
    for (const std::int64_t tag : {any_tag, std::int64_t{-2}, std::int64_t{1} << 32}) {
        const const_buffer parts[] = {{&value, 2}, {&value, 2}};
        require_throw<std::out_of_range>([&] { p.world.send(value, p.rank, tag); });
        require_throw<std::out_of_range>([&] { p.world.ssend(&value, sizeof value, p.rank, tag); });
        require_throw<std::out_of_range>([&] { p.world.send(parts, p.rank, tag); });
        require_throw<std::out_of_range>([&] { (void)p.world.isend(std::span(&value, 1), p.rank, tag); });
        require_throw<std::out_of_range>([&] { (void)p.world.issend(&value, sizeof value, p.rank, tag); });
        require_throw<std::out_of_range>([&] { (void)p.world.isend(parts, p.rank, tag); });
        require_throw<std::out_of_range>([&] { (void)p.world.enqueue(&value, sizeof value, p.rank, tag); });
        require_throw<std::out_of_range>(
            [&] { p.world.sendrecv(&value, sizeof value, p.rank, tag, nullptr, 0, p.rank, 0); });
        require_throw<std::out_of_range>([&] { p.world.subset(std::array{p.rank}, tag); });
        synchronizer none(p.world, 0);
        require_throw<std::out_of_range>([&] { p.world.isend(&value, sizeof value, p.rank, tag, none); });
        region own(p.world, &value, sizeof value);
        require_throw<std::out_of_range>(
            [&] { put_signal(p.world, &value, sizeof value, own.remote(), 0, tag); });
        require_throw<std::out_of_range>(
            [&] { iput_signal(p.world, &value, sizeof value, own.remote(), 0, tag); });
    }
    // Buffers that no memory can have.
    constexpr std::size_t half = std::size_t{1} << 63;
    const const_buffer from[] = {{&value, half}, {&value, half + 4}};
    const mutable_buffer into[] = {{&value, half}, {&value, half + 4}};
    require_throw<std::invalid_argument>([&] { p.world.send(from, p.rank, 0); });
    require_throw<std::invalid_argument>([&] { (void)p.world.isend(from, p.rank, 0); });
    require_throw<std::invalid_argument>([&] { p.world.recv(into, p.rank, 0); });
    require_throw<std::invalid_argument>([&] { (void)p.world.irecv(into, p.rank, 0); });
    // An endpoint without wildcards, and one without receives.
    require_throw<std::invalid_argument>([&] { p.world.recv(value, any_source, 0); });
    require_throw<std::invalid_argument>([&] { p.world.recv(value, 0, any_tag); });
    require_throw<std::invalid_argument>([&] { p.world.probe(any_source, 0); });
    require_throw<std::invalid_argument>([&] { (void)p.world.dequeue(); });
    endpoint queue = p.make_endpoint({.delivery = delivery::queued});
    require_throw<std::invalid_argument>([&] { queue.recv(value, 0, 0); });
    require_throw<std::invalid_argument>([&] { (void)queue.try_probe(0, 0); });
    require_throw<std::invalid_argument>([&] { endpoint().send(value, 0, 0); });
    require_throw<std::invalid_argument>([&] { endpoint().recv(value, 0, 0); });
    require_throw<std::invalid_argument>([&] { endpoint().probe(0, 0); });
    require_throw<std::invalid_argument>([&] { (void)endpoint().enqueue(&value, 1, 0, 0); });
    const endpoint moved = std::move(queue);
    require_throw<std::invalid_argument>([&] { (void)queue.dequeue(); });
    require_equal(moved.rank(), p.rank, "rank");
    require_equal(moved.size(), p.size, "size");
    // All of it left the endpoint as it was.
    const std::uint32_t last = 0xffff'ffff;
    outbox out(p.world);
    out.send(17, p.next(), last);
    require_status(p.world.recv(value, p.previous(), last), p.previous(), last, sizeof value);
    require_equal(value, 17, "value");
}

// An endpoint that is refused on one rank takes no number: the next ones of all ranks belong together.
void refused_endpoint(party &p) {
    if (p.rank == 0)
        require_throw<std::invalid_argument>([&] { p.make_endpoint({.delivery = delivery::handler}); });
    endpoint next = p.make_endpoint({});
    outbox out(next);
    out.send(p.rank, p.next(), 1);
    while (!next.try_probe(p.previous(), 1))
        this_task::yield();
    require_equal(next.recv<int>(p.previous(), 1), p.previous(), "value");
}

constexpr conformance_case all_basic_cases[] = {
    {"sizes_expected", sizes_expected},
    {"sizes_unexpected", sizes_unexpected},
    {"sizes_blocking", sizes_blocking},
    {"typed", typed},
    {"pieces", pieces},
    {"sendrecv", sendrecv},
    {"truncation", truncation},
    {"to_itself", to_itself},
    {"wrong_arguments", wrong_arguments},
    {"refused_endpoint", refused_endpoint},
};

} // namespace

std::span<const conformance_case> basic_cases() { return all_basic_cases; }

} // namespace fult::comm::testing
