// Memory that other ranks write and read.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>

#include "tests/comm/conformance/party.hpp"

namespace fult::comm::testing {
namespace {

// The values of all ranks, by rank.
template <plain T> std::vector<T> reported_by_all(party &p, const T &mine) {
    std::vector<T> all(static_cast<std::size_t>(p.size));
    allgather(p.world, mine, all);
    return all;
}

const remote_region &of(const std::vector<remote_region> &all, int rank) {
    return all[static_cast<std::size_t>(rank)];
}

// Sizes around every limit: each is put to the next rank and fetched from the previous one.
void put_and_get(party &p) {
    const std::vector<std::size_t> sizes = border_sizes();
    constexpr std::size_t gap = 24; // only the requested bytes change
    std::vector<std::byte> memory(sizes.back() + 2 * gap);
    region own(p.world, memory);
    require(own.valid() && !region().valid() && p.world.valid() && !endpoint().valid(), "what is empty");
    const auto all = reported_by_all(p, own.remote());
    for (const std::size_t size : sizes) {
        const auto seed = static_cast<std::uint64_t>(p.rank) * 100'000 + size;
        const auto theirs = static_cast<std::uint64_t>(p.previous()) * 100'000 + size;
        std::memset(memory.data(), 0xee, memory.size());
        p.barrier();
        put(p.world, bytes_of(seed, size), of(all, p.next()), gap);
        p.barrier(); // a put that is complete is there
        require(are_bytes_of(theirs, std::span(memory).subspan(gap, size)), "put of " + std::to_string(size));
        const auto untouched = [&](std::size_t from, std::size_t to) {
            return fult::testing::all_are(std::byte{0xee}, memory.data() + from, to - from);
        };
        require(untouched(0, gap) && untouched(gap + size, memory.size()), "nothing else was written");
        std::vector<std::byte> in(size + 1);
        in.back() = std::byte{0x11};
        get(p.world, std::span(in).first(size), of(all, p.next()), gap);
        require(are_bytes_of(seed, std::span(in).first(size)), "get of " + std::to_string(size));
        require(in.back() == std::byte{0x11}, "nothing behind it was written");
        p.barrier();
    }
}

// Many at once, of all sizes, each rank into its part of every region.
void many_accesses(party &p) {
    constexpr std::size_t each = 60'000;
    constexpr int rounds = 24;
    const auto ranks = static_cast<std::size_t>(p.size);
    std::vector<std::byte> memory(each * ranks), back(each * ranks);
    region own(p.world, memory);
    const auto all = reported_by_all(p, own.remote());
    const auto size_of = [](int i) { return i % 5 == 2 ? std::size_t{2000} : std::size_t(i % 7 + 1); };
    std::vector<std::vector<std::byte>> out;
    std::vector<request> under_way;
    const auto seed = [&](int from, int to) {
        return static_cast<std::uint64_t>(from) * 64 + static_cast<std::uint64_t>(to);
    };
    for (int to = 0; to < p.size; ++to)
        out.push_back(bytes_of(seed(p.rank, to), each));
    std::size_t at = 0;
    for (int i = 0; i < rounds; ++i) {
        const std::size_t size = i + 1 == rounds ? each - at : size_of(i);
        for (int to = 0; to < p.size; ++to)
            under_way.push_back(iput(p.world, std::span(out[static_cast<std::size_t>(to)]).subspan(at, size),
                                     of(all, to), static_cast<std::size_t>(p.rank) * each + at));
        at += size;
    }
    wait_all(under_way);
    p.barrier();
    for (int from = 0; from < p.size; ++from)
        require(are_bytes_of(seed(from, p.rank),
                             std::span(memory).subspan(static_cast<std::size_t>(from) * each, each)),
                "what others have put");
    under_way.clear();
    for (int from = 0; from < p.size; ++from)
        for (std::size_t done = 0, size = 1; done < each;
             done += size, size = size % 5 == 4 ? 30'000 : size + 1) {
            size = std::min(size, each - done);
            under_way.push_back(
                iget(p.world, std::span(back).subspan(static_cast<std::size_t>(from) * each + done, size),
                     of(all, from), static_cast<std::size_t>(p.rank) * each + done));
        }
    wait_all(under_way);
    for (int from = 0; from < p.size; ++from)
        require(are_bytes_of(seed(p.rank, from),
                             std::span(back).subspan(static_cast<std::size_t>(from) * each, each)),
                "what was got back");
    p.barrier();
}

// A task waits for the signal; then the bytes have arrived, for every size.
void put_with_signal(party &p) {
    constexpr std::size_t sizes[] = {0, 8, 3000, 9000, 200'000};
    std::vector<std::vector<std::byte>> memory;
    std::vector<region> regions;
    std::vector<std::vector<remote_region>> all;
    for (const std::size_t size : sizes) {
        memory.emplace_back(size + 1);
        regions.emplace_back(p.world, memory.back().data(), size);
        all.push_back(reported_by_all(p, regions.back().remote()));
    }
    for (std::uint64_t round = 0; round < 3; ++round) {
        std::vector<handle<void>> tasks;
        for (std::uint32_t i = 0; i < std::size(sizes); ++i)
            tasks.push_back(spawn([&, i] {
                require_status(p.world.recv(nullptr, 0, p.previous(), i), p.previous(), i, 0);
                require(are_bytes_of(round + i, std::span(memory[i]).first(sizes[i])),
                        "bytes before the signal");
            }));
        std::vector<std::vector<std::byte>> out;
        for (std::uint32_t i = 0; i < std::size(sizes); ++i)
            out.push_back(bytes_of(round + i, sizes[i]));
        std::vector<request> under_way;
        for (std::uint32_t i = 0; i < std::size(sizes); ++i)
            if (round == 1)
                put_signal(p.world, out[i], of(all[i], p.next()), 0, i);
            else
                under_way.push_back(iput_signal(p.world, out[i], of(all[i], p.next()), 0, i));
        wait_all(under_way);
        join_all(tasks);
        p.barrier();
    }
}

// The signal is delivered like the endpoint's messages: to a queue, to a handler.
void signals_by_endpoint(party &p) {
    std::vector<std::uint64_t> memory(2 * static_cast<std::size_t>(p.size));
    region own(p.world, memory);
    const auto all = reported_by_all(p, own.remote());
    endpoint queue = p.make_endpoint({.delivery = delivery::queued});
    std::atomic<std::uint64_t> handled{0};
    endpoint active = p.make_endpoint(
        {.delivery = delivery::handler,
         .handler = [&](const status &envelope, std::span<const std::byte> bytes) {
             handled += bytes.empty() ? memory[static_cast<std::size_t>(p.size + envelope.source)] : 0;
         }});
    for (int to = 0; to < p.size; ++to) {
        const std::uint64_t mine = 1000 + static_cast<std::uint64_t>(p.rank);
        const auto place = static_cast<std::size_t>(p.rank);
        put_signal(queue, std::span(&mine, 1), of(all, to), place * 8, 5);
        put_signal(active, std::span(&mine, 1), of(all, to), (place + static_cast<std::size_t>(p.size)) * 8,
                   6);
    }
    std::uint64_t expected = 0;
    for (int i = 0; i < p.size; ++i) {
        auto got = queue.dequeue();
        for (; !got; got = queue.dequeue())
            this_task::yield();
        require_equal(got->envelope.size, std::size_t{0}, "size");
        require_equal(memory[static_cast<std::size_t>(got->envelope.source)],
                      1000 + static_cast<std::uint64_t>(got->envelope.source), "the bytes of the signal");
        expected += 1000 + static_cast<std::uint64_t>(i);
    }
    while (handled != expected)
        this_task::yield();
    p.barrier();
}

// A region that has ended, a read-only region, and bytes outside a region.
void refused_accesses(party &p) {
    std::vector<std::uint64_t> memory(4000, 7);
    const std::vector<std::uint64_t> constant(100, 3);
    std::vector<std::uint64_t> in(4000, 5);
    region reading(p.world, constant);
    const auto readable = reported_by_all(p, reading.remote());
    std::vector<remote_region> all;
    {
        region own(p.world, memory);
        all = reported_by_all(p, own.remote());
        require_throw<std::out_of_range>([&] { put(p.world, in, of(all, p.next()), 8); });
        require_throw<std::out_of_range>(
            [&] { get(p.world, in.data(), 1, of(all, p.next()), ~std::size_t{0}); });
        require_throw<std::invalid_argument>([&] { put(p.world, constant, of(readable, p.next())); });
        get(p.world, std::span(in).first(100), of(readable, p.next()));
        require_equal(in[99], std::uint64_t{3}, "what may be read");
        // A rank that does not know it gets the error from the target.
        remote_region wrong = of(readable, p.next());
        wrong.writable = 1;
        wrong.size = 1 << 20;
        require_error(errc::refused, [&] { put(p.world, in.data(), 8, wrong, 0); });
        require_error(errc::refused, [&] { put(p.world, in, wrong, 0); });
        require_error(errc::refused, [&] { get(p.world, in, wrong, 0); });
        require_error(errc::refused, [&] { get(p.world, in.data(), 8, wrong, 800); });
        p.barrier();
    }
    p.barrier();
    require_error(errc::refused, [&] { put(p.world, in.data(), 8, of(all, p.next()), 0); });
    require_error(errc::refused, [&] { get(p.world, in.data(), 8, of(all, p.next()), 0); });
    require_error(errc::refused, [&] { put_signal(p.world, in, of(all, p.next()), 0, 3); });
    require_error(errc::refused, [&] { iget(p.world, in, of(all, p.next())).wait(); });
    require(!p.world.try_probe(p.previous(), 3), "no signal of what was refused");
    require(std::all_of(memory.begin(), memory.end(), [](std::uint64_t v) { return v == 7; }), "the memory");
    // A new one in its place has another name.
    region later(p.world, memory);
    p.barrier();
    require_error(errc::refused, [&] { put(p.world, in.data(), 8, of(all, p.next()), 0); });
    p.barrier();
}

// Regions end while others use them: each access is done, or refused, and nothing is written afterwards.
void region_ends_in_use(party &p) {
    constexpr std::size_t size = 300'000;
    for (int round = 0; round < 4; ++round) {
        std::vector<std::byte> memory(size), out(size, std::byte{1}), in(size);
        auto own = std::make_unique<region>(p.world, memory);
        const auto all = reported_by_all(p, own->remote());
        std::vector<request> under_way;
        for (int i = 0; i < 6; ++i) {
            under_way.push_back(iput(p.world, out, of(all, p.next())));
            under_way.push_back(iget(p.world, in.data(), 1000, of(all, p.next()), 0));
        }
        if (round % 2 == 1)
            wait_any(under_way);
        own.reset();
        memory.assign(size, std::byte{9});
        for (request &each : under_way) {
            try {
                each.wait();
            } catch (const error &e) {
                require(e.code() == errc::refused, e.what());
            }
        }
        p.barrier();
        require(std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{9}; }),
                "written after the region had ended");
    }
}

constexpr conformance_case all_one_sided_cases[] = {
    {"put_and_get", put_and_get},           {"many_accesses", many_accesses},
    {"put_with_signal", put_with_signal},   {"signals_by_endpoint", signals_by_endpoint},
    {"refused_accesses", refused_accesses}, {"region_ends_in_use", region_ends_in_use},
};

} // namespace

std::span<const conformance_case> one_sided_cases() { return all_one_sided_cases; }

} // namespace fult::comm::testing
