// Gets and puts of all kinds.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <thread>

#include "tests/global/cases.hpp"

namespace fult::global::testing {
namespace {

using comm::testing::are_bytes_of;
using comm::testing::bytes_of;

struct particle {
    double position[3];
    global_ptr<particle> next;
    int kind;
};

void values(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const auto all = all_pointers(p, m.allocate<particle>(static_cast<std::size_t>(p.size)));
    for (int to = 0; to < p.size; ++to) { // also the own heap
        const auto place = all[static_cast<std::size_t>(to)] + p.rank;
        m.put(place, {{1, 2, double(p.rank)}, place, to});
    }
    m.barrier();
    for (int from = 0; from < p.size; ++from)
        for (int i = 0; i < p.size; ++i) {
            const auto place = all[static_cast<std::size_t>(from)] + i;
            const particle got = m.get(place);
            require(got.position[2] == i && got.next == place && got.kind == from, "what rank i has put");
            const global_ptr<const particle> constant = place;
            require_equal(m.get(constant).kind, from, "through a pointer to a constant");
        }
    const auto kind = all[static_cast<std::size_t>(p.next())].template field<int>(offsetof(particle, kind));
    require_equal(m.get(kind), p.next(), "a field");
}

void sizes(party &p) {
    memory m(p.world, {.heap = 4 << 20});
    const auto all = all_pointers(p, m.allocate<std::byte>(2 << 20));
    for (const std::size_t size : comm::testing::border_sizes()) {
        const auto seed = number_of(p.rank, size);
        const auto there = all[static_cast<std::size_t>(p.next())];
        m.put(there, bytes_of(seed, size));
        std::vector<std::byte> back(size);
        m.get(there, back);
        require(are_bytes_of(seed, back), "what was put, of " + std::to_string(size));
        m.barrier();
        require(are_bytes_of(number_of(p.previous(), size),
                             std::span(m.local(all[static_cast<std::size_t>(p.rank)], size), size)),
                "at the owner");
        m.barrier();
    }
}

void requests(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const auto all = all_pointers(p, m.allocate<int>(1000));
    const auto there = all[static_cast<std::size_t>(p.next())];
    std::vector<int> out(500), in(500), own(500);
    std::iota(out.begin(), out.end(), p.rank);
    comm::request put = m.iput(there, out);
    put.wait();
    comm::synchronizer both(p.world, 2);
    m.iput(all[static_cast<std::size_t>(p.rank)] + 500, out, both, 1); // of this rank itself
    m.iget(there, in, both, 2);
    both.wait();
    require(in == out, "what was put");
    m.iget(all[static_cast<std::size_t>(p.rank)] + 500, own).wait();
    require(own == out, "in the own heap");
    comm::completion_queue ended(p.world);
    m.iget(there, std::span(in).first(1), ended, 77);
    require_equal(ended.pop().user_data, std::uint64_t{77}, "user data");
}

void many_pieces(party &p) {
    memory m(p.world, {.heap = 1 << 20});
    constexpr std::size_t rows = 60, columns = 50;
    const auto all = all_pointers(p, m.allocate<std::uint64_t>(rows * columns));
    const auto there = all[static_cast<std::size_t>(p.next())];
    // Columns 10 to 12 of a matrix by rows, then the whole.
    std::vector<std::uint64_t> block(rows * 3);
    std::iota(block.begin(), block.end(), number_of(p.rank, 0));
    m.put(there + 10, strided{rows, 3, columns}, block);
    std::vector<std::uint64_t> whole(rows * columns), back(rows * 3);
    m.get(there, whole);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column) {
            const bool inside = column >= 10 && column < 13;
            require_equal(whole[row * columns + column], inside ? block[row * 3 + column - 10] : 0,
                          "element");
        }
    m.get(there + 10 + (rows - 1) * columns, strided{rows, 3, -std::ptrdiff_t{columns}}, back); // upwards
    require_equal(back[0], block[(rows - 1) * 3], "the last row comes first");
    require_throw<std::invalid_argument>([&] { m.get(there, strided{2, 3, 10}, back); });
    m.barrier();
    // Single elements of all ranks, backwards, more than are under way at a time.
    std::vector<global_ptr<std::uint64_t>> places;
    std::vector<std::uint64_t> numbers;
    for (std::size_t i = 3 * 1024 + 5; i-- > 0;) {
        const std::size_t rank = i % static_cast<std::size_t>(p.size);
        const std::size_t index =
            i / static_cast<std::size_t>(p.size) % (rows * columns / static_cast<std::size_t>(p.size));
        places.push_back(all[rank] + static_cast<std::ptrdiff_t>(index * static_cast<std::size_t>(p.size) +
                                                                 static_cast<std::size_t>(p.rank)));
        numbers.push_back(number_of(p.rank, index * static_cast<std::size_t>(p.size) + rank));
    }
    m.scatter(places, numbers);
    std::vector<std::uint64_t> got(places.size());
    m.gather(places, got);
    require(got == numbers, "what was scattered is gathered");
    got.pop_back();
    require_throw<std::invalid_argument>([&] { m.gather(places, got); });
    m.gather(std::vector<global_ptr<const std::uint64_t>>(), {});
}

void signals(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const auto all = all_pointers(p, m.allocate<int>(100));
    std::vector<int> out(100, p.rank);
    m.put_signal(all[static_cast<std::size_t>(p.next())], out, p.world, 5);
    p.world.recv(nullptr, 0, p.previous(), 5);
    const int *const here = m.local(all[static_cast<std::size_t>(p.rank)], 100);
    require_equal(std::accumulate(here, here + 100, 0), 100 * p.previous(),
                  "the bytes come before the signal");
}

void outside_of_heaps(party &p) {
    memory m(p.world, {.heap = 4096});
    const global_ptr<std::uint64_t> none, far(p.size, 0);
    for (const int rank : {p.rank, p.next()}) {
        const global_ptr<std::uint64_t> end(rank, 4096), last(rank, 4096 - 8);
        std::vector<std::uint64_t> two(2);
        require_throw<std::out_of_range>([&] { (void)m.get(end); });
        require_throw<std::out_of_range>([&] { m.put(end, 1); });
        require_throw<std::out_of_range>([&] { m.get(last, two); });
        require_throw<std::out_of_range>([&] { (void)m.iput(last, two); });
        require_throw<std::out_of_range>([&] { m.put(last, strided{2, 1, 1}, two); });
        require_throw<std::out_of_range>([&] { (void)m.fetch_add(end, 1); });
        require_throw<std::out_of_range>([&] { m.put_signal(end, two, p.world, 1); });
        (void)m.get(last);
    }
    require_throw<std::out_of_range>([&] { (void)m.get(none); });
    require_throw<std::out_of_range>([&] { (void)m.get(far); });
    if (p.size > 1)
        require_throw<std::invalid_argument>([&] { (void)m.local(global_ptr<int>(p.next(), 0)); });
    m.barrier(); // no rank ends before the others have tried
}

// A task that waits for an access waits alone.
void many_tasks(party &p) {
    memory m(p.world, {.heap = 1 << 20});
    const std::size_t count = fult::testing::scaled(5000) + 10;
    const auto all = all_pointers(p, m.allocate<std::uint64_t>(count));
    std::uint64_t *const here = m.local(all[static_cast<std::size_t>(p.rank)], count);
    for (std::size_t i = 0; i < count; ++i)
        here[i] = number_of(p.rank, i);
    m.barrier();
    std::atomic<std::size_t> right{0};
    task_group tasks;
    for (std::size_t i = 0; i < count; ++i)
        tasks.spawn([&, i] {
            const int from = static_cast<int>(i % static_cast<std::size_t>(p.size));
            if (m.get(all[static_cast<std::size_t>(from)] + static_cast<std::ptrdiff_t>(i)) ==
                number_of(from, i))
                ++right;
        });
    tasks.wait();
    require_equal(right.load(), count, "gets with the right value");
}

// A task that polls keeps neither the tasks of its worker waiting nor the progress of messages.
void polls(party &p) {
    if (p.size == 1)
        return; // an access of the own heap does not suspend
    memory m(p.world, {.heap = 1 << 16});
    const auto all = all_pointers(p, m.allocate<int>(3));
    const auto there = all[static_cast<std::size_t>(p.next())], here = all[static_cast<std::size_t>(p.rank)];
    std::fill_n(m.local(here, 3), 3, 0);
    m.barrier();
    auto writer = fult::spawn([&] { m.fetch_add(there, 1); });
    while (m.fetch_add(there, 0) != 1) {
    }
    writer.join();
    auto owner = fult::spawn([&] {
        p.world.recv<int>(p.previous(), 7);
        m.fetch_add(here + 1, 1);
    });
    p.world.send(1, p.next(), 7);
    while (m.fetch_add(there + 1, 0) != 1) {
    }
    owner.join();
    const auto exchange = [&](int from, int to) {
        int expected = from;
        while (!m.compare_exchange(there + 2, expected, to))
            expected = from;
    };
    task_group tasks; // a lock, which a task holds while others run
    for (int i = 0; i < 20; ++i)
        tasks.spawn([&] {
            exchange(0, 1);
            this_task::yield();
            exchange(1, 0);
        });
    tasks.wait();
    require_equal(m.fetch_add(there + 2, 0), 0, "the lock is free");
}

// Within a host the owner takes no part: rank 0 makes no progress while the others access its heap.
void without_the_owner(party &p) {
    memory m(p.world, {.heap = 1 << 20});
    for (int other = 0; other < p.size; ++other)
        if (p.world.route_to(other) == std::string_view("shared"))
            require(m.state().heaps[static_cast<std::size_t>(other)].begin,
                    "this process has mapped the heap of rank " + std::to_string(other));
    const bool can = p.size > 1 && p.world.route_to(p.rank == 0 ? 1 : 0) == std::string_view("shared");
    if (comm::allreduce(p.world, can ? 1 : 0, std::plus<>()) != p.size)
        return;
    const auto count = static_cast<std::size_t>(p.size); // a count, and a number of each other rank
    const auto numbers = m.allocate<std::uint64_t>(count);
    global_ptr<std::uint64_t> first = numbers;
    comm::broadcast(p.world, first, 0);
    std::uint64_t *const here = m.local(numbers, count);
    std::fill_n(here, count, 0);
    m.barrier();
    if (p.rank != 0) {
        const std::uint64_t mine = number_of(p.rank, 0);
        m.put(first + p.rank, mine);
        require_equal(m.get(first + p.rank), mine, "what was put");
        std::vector<global_ptr<std::uint64_t>> places(10, first + p.rank);
        std::vector<std::uint64_t> got(10);
        m.gather(places, got);
        require_equal(got.back(), mine, "what was gathered");
        m.fetch_add(first, 1);
    } else {
        const std::atomic_ref<std::uint64_t> done(*here);
        while (done.load(std::memory_order_acquire) != static_cast<std::uint64_t>(p.size - 1))
            std::this_thread::yield();
        for (int other = 1; other < p.size; ++other)
            require_equal(here[other], number_of(other, 0), "what was put");
    }
    m.barrier();
}

constexpr conformance_case cases[] = {
    {"values", values},           {"sizes", sizes},     {"requests", requests},
    {"many_pieces", many_pieces}, {"signals", signals}, {"outside_of_heaps", outside_of_heaps},
    {"many_tasks", many_tasks},   {"polls", polls},     {"without_the_owner", without_the_owner},
};

} // namespace

std::span<const conformance_case> access_cases() { return cases; }

} // namespace fult::global::testing
