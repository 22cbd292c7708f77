// Messages in pieces.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// Pieces of three bytes, seven apart. Fails if a part of a message is not within it, or comes twice.
constexpr std::size_t piece = 3, apart = 7;
std::size_t place_of(std::size_t i) { return i / piece * apart + i % piece; }

// Calls f(i, place, n) for each run of n bytes, from the i-th of `length` on, of a message that lies in
// pieces.
template <class F> void each_run(std::size_t offset, std::size_t length, F f) {
    for (std::size_t i = 0, n = 0; i < length; i += n) {
        n = std::min(piece - (offset + i) % piece, length - i);
        f(i, place_of(offset + i), n);
    }
}

struct sparse_source final : message_source {
    std::vector<std::byte> memory;
    std::size_t size;
    mutable std::size_t done = 0;
    explicit sparse_source(std::span<const std::byte> bytes)
        : memory(place_of(bytes.size()) + 1), size(bytes.size()) {
        std::byte *const to = memory.data();
        each_run(0, size, [&](std::size_t i, std::size_t at, std::size_t n) {
            std::memcpy(to + at, bytes.data() + i, n);
        });
    }
    void read(std::size_t offset, std::byte *to, std::size_t length) const noexcept override {
        done += offset == done && length <= size - offset ? length : 2 * size; // in order
        const std::byte *const from = memory.data();
        each_run(offset, length,
                 [&](std::size_t i, std::size_t at, std::size_t n) { std::memcpy(to + i, from + at, n); });
    }
};

struct sparse_target final : message_target {
    std::vector<std::byte> memory;
    std::size_t size, done = 0;
    explicit sparse_target(std::size_t room) : memory(place_of(room) + 1), size(room) {}
    void write(std::size_t offset, const std::byte *from, std::size_t length) noexcept override {
        done += offset <= size && length <= size - offset ? length : 2 * size;
        std::byte *const to = memory.data();
        each_run(offset, length,
                 [&](std::size_t i, std::size_t at, std::size_t n) { std::memcpy(to + at, from + i, n); });
    }
    bool has(std::uint64_t seed, std::size_t length) const {
        std::vector<std::byte> dense(length);
        const std::byte *const from = memory.data();
        each_run(0, length, [&](std::size_t i, std::size_t at, std::size_t n) {
            std::memcpy(dense.data() + i, from + at, n);
        });
        return done == length && are_bytes_of(seed, dense);
    }
};

// Without the largest one, of which each piece of three bytes costs a call.
std::vector<std::size_t> sparse_sizes() {
    std::vector<std::size_t> all = border_sizes();
    all.back() = 200'000;
    return all;
}

request begin_sending(party &p, const message_source &from, std::uint64_t size, int to, int tag,
                      bool synchronous) {
    return synchronous ? p.world.issend(from, size, to, tag) : p.world.isend(from, size, to, tag);
}

void sparse_to(party &p, int to, int from, std::uint64_t size, bool synchronous) {
    const auto bytes = bytes_of(size, size);
    const sparse_source out(bytes);
    sparse_target in(size + 5);
    std::vector<std::byte> dense(size);

    request sent = begin_sending(p, out, size, to, 1, synchronous);
    require_status(p.world.recv(in, in.size, from, 1), from, 1, size);
    require(in.has(size, size), "sparse to sparse");
    require_status(sent.wait(), to, 1, size);
    require_equal(out.done, size, "bytes read");

    const sparse_source again(bytes);
    sent = begin_sending(p, again, size, to, 2, synchronous);
    require_status(p.world.recv(dense, from, 2), from, 2, size);
    require(are_bytes_of(size, dense), "sparse to dense");
    sent.wait();

    sparse_target other(size);
    request coming = p.world.irecv(other, size, from, 3);
    sent = p.world.isend(bytes, to, 3);
    require_status(coming.wait(), from, 3, size);
    require(other.has(size, size), "dense to sparse");
    sent.wait();

    sparse_target taken(size);
    const sparse_source third(bytes);
    sent = begin_sending(p, third, size, to, 4, synchronous);
    matched_message found = p.world.mprobe(from, 4);
    require_status(found.recv(taken, size), from, 4, size);
    require(taken.has(size, size), "taken");
    sent.wait();
}

void sparse(party &p) {
    for (const std::size_t size : sparse_sizes())
        for (const bool synchronous : {false, true})
            sparse_to(p, p.next(), p.previous(), size, synchronous);
    if (!fult::testing::sanitized)
        sparse_to(p, p.next(), p.previous(), border_sizes().back(), false);
}
void sparse_to_itself(party &p) {
    for (const std::size_t size : sparse_sizes())
        for (const bool synchronous : {false, true})
            sparse_to(p, p.rank, p.rank, size, synchronous);
}

void sparse_blocking(party &p) {
    for (const std::size_t size : sparse_sizes()) {
        const auto bytes = bytes_of(size, size);
        handle<void> sender = spawn([&] {
            const sparse_source out(bytes);
            p.world.send(out, size, p.next(), 1);
            const sparse_source again(bytes);
            p.world.ssend(again, size, p.next(), 1);
        });
        for (int i = 0; i < 2; ++i) {
            sparse_target in(size);
            require_status(p.world.recv(in, size, p.previous(), 1), p.previous(), 1, size);
            require(in.has(size, size), "bytes");
        }
        sender.join();
    }
}

void sparse_truncated(party &p) {
    for (const std::size_t size : {std::size_t{100}, std::size_t{300'000}}) {
        const auto bytes = bytes_of(size, size);
        const sparse_source out(bytes);
        sparse_target in(size - 1);
        request sent = p.world.isend(out, size, p.next(), 1);
        require_error(errc::truncated, [&] { p.world.recv(in, in.size, p.previous(), 1); });
        require_equal(in.done, std::size_t{0}, "bytes written");
        sent.wait();
    }
}

// Spans of buffers, by requests.
void pieces_by_requests(party &p) {
    for (const std::size_t size : border_sizes()) {
        const auto bytes = bytes_of(size, size);
        std::vector<std::byte> in(size + 1);
        const std::size_t a = size / 3, b = size / 2;
        const const_buffer out[] = {
            {bytes.data(), a}, {nullptr, 0}, {bytes.data() + a, b - a}, {bytes.data() + b, size - b}};
        const mutable_buffer parts[] = {{in.data(), b}, {in.data() + b, size + 1 - b}};
        request coming = p.world.irecv(parts, p.previous(), 1);
        request sent = p.world.isend(out, p.next(), 1);
        require_status(coming.wait(), p.previous(), 1, size);
        require(are_bytes_of(size, std::span(in).first(size)), "bytes");
        sent.wait();
        sent = p.world.isend(out, p.rank, 2);
        require_status(p.world.irecv(parts, p.rank, 2).wait(), p.rank, 2, size);
        require(are_bytes_of(size, std::span(in).first(size)), "bytes");
        sent.wait();
    }
}

constexpr conformance_case all_layout_cases[] = {
    {"sparse", sparse},
    {"sparse_to_itself", sparse_to_itself},
    {"sparse_blocking", sparse_blocking},
    {"sparse_truncated", sparse_truncated},
    {"pieces_by_requests", pieces_by_requests},
};

} // namespace

std::span<const conformance_case> layout_cases() { return all_layout_cases; }

} // namespace fult::comm::testing
