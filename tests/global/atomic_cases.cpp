// Atomic operations, on all ranks at once.
#include <set>

#include "tests/global/cases.hpp"

namespace fult::global::testing {
namespace {

// A counter of each type on each rank; all tasks of all ranks add to all.
template <class T> void adds(party &p, memory &m, T step) {
    const auto all = all_pointers(p, m.allocate<T>());
    m.put(all[static_cast<std::size_t>(p.rank)], T(1));
    m.barrier();
    const int tasks = 8, rounds = static_cast<int>(fult::testing::scaled(100)) + 5;
    task_group adding;
    for (int task = 0; task < tasks; ++task)
        adding.spawn([&] {
            for (int round = 0; round < rounds; ++round)
                for (const auto &each : all)
                    m.fetch_add(each, step);
        });
    adding.wait();
    m.barrier();
    T expected(1);
    for (int i = 0; i < p.size * tasks * rounds; ++i)
        expected = static_cast<T>(expected + step);
    for (const auto &each : all)
        require(m.get(each) == expected, "the sum of " + std::to_string(sizeof(T)) + " bytes");
    m.barrier();
    require(m.fetch_add(all[static_cast<std::size_t>(p.rank)], T(3)) == expected, "the value before");
    m.barrier();
}

void fetch_add(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    adds<std::int32_t>(p, m, -3);
    adds<std::uint64_t>(p, m, std::uint64_t{1} << 40);
    adds<std::uint8_t>(p, m, 5);
    adds<std::int16_t>(p, m, -700);
    adds<float>(p, m, 0.25F);
    adds<double>(p, m, -0.5);
}

// Ranks with an odd number ask the owner, as if they could not map its heap. The others change it themselves.
void in_both_ways(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    if (p.rank % 2 == 1)
        unmap_others(p, m);
    adds<std::uint64_t>(p, m, 3);
    adds<double>(p, m, 0.5);
}

// Each number is drawn once.
void tickets(party &p) {
    memory m(p.world, {.heap = 4096});
    const global_variable<std::int64_t> counter(m, 0, 0);
    const global_ptr<std::int64_t> place(0, counter.pointer().offset());
    const std::size_t mine = 50;
    std::vector<std::int64_t> drawn, all(mine * static_cast<std::size_t>(p.size));
    for (std::size_t i = 0; i < mine; ++i)
        drawn.push_back(m.fetch_add(place, 1));
    require(std::is_sorted(drawn.begin(), drawn.end()), "the numbers of one task rise");
    comm::allgather(p.world, drawn, all);
    const std::set<std::int64_t> different(all.begin(), all.end());
    require(different.size() == all.size() && *different.rbegin() + 1 == std::ssize(all), "each number once");
}

struct node {
    global_ptr<node> next;
    std::uint64_t value;
};

// All ranks push nodes of their own onto one list; then each finds all of them.
void a_list_of_all_ranks(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const auto heads = all_pointers(p, m.allocate<global_ptr<node>>());
    const auto head = heads[0];
    m.put(heads[static_cast<std::size_t>(p.rank)], global_ptr<node>());
    m.barrier();
    const std::size_t mine = 30;
    task_group pushing;
    for (std::size_t i = 0; i < mine; ++i)
        pushing.spawn([&, i] {
            const auto own = m.allocate<node>();
            // A guess: a get would race with the exchanges, and these give the present one.
            global_ptr<node> first;
            do
                m.put(own, {first, number_of(p.rank, i)});
            while (!m.compare_exchange(head, first, own));
        });
    pushing.wait();
    m.barrier();
    std::set<std::uint64_t> found;
    for (global_ptr<node> each = m.get(head); each;) {
        const node read = m.get(each);
        require(found.insert(read.value).second, "a node that occurs once");
        each = read.next;
    }
    require_equal(found.size(), mine * static_cast<std::size_t>(p.size), "nodes");
    for (std::size_t i = 0; i < mine; ++i)
        require(found.contains(number_of(p.next(), i)), "a node of the next rank");
    m.barrier();
}

void compare_exchange(party &p) {
    memory m(p.world, {.heap = 4096});
    const auto all = all_pointers(p, m.allocate<std::uint16_t>(4));
    const auto mine = all[static_cast<std::size_t>(p.next())] + 1;
    m.put(all[static_cast<std::size_t>(p.rank)], std::vector<std::uint16_t>(4, 7));
    m.barrier();
    std::uint16_t expected = 6;
    require(!m.compare_exchange(mine, expected, 9), "another value");
    require_equal(expected, std::uint16_t{7}, "the value that it has");
    require(m.compare_exchange(mine, expected, 9), "this value");
    require_equal(m.get(mine), std::uint16_t{9}, "the new value");
    require_equal(m.get(mine - 1), std::uint16_t{7}, "its neighbour");
    require_equal(m.get(mine + 1), std::uint16_t{7}, "its neighbour");
    struct two {
        std::int32_t a, b;
        bool operator==(const two &) const = default;
    };
    const global_ptr<two> odd(p.next(), 12);
    two value{};
    require_throw<std::invalid_argument>([&] { (void)m.compare_exchange(odd, value, {1, 2}); });
    require_throw<std::invalid_argument>([&] { (void)m.fetch_add(global_ptr<int>(p.rank, 6), 1); });
    m.barrier();
}

constexpr conformance_case cases[] = {
    {"fetch_add", fetch_add},
    {"in_both_ways", in_both_ways},
    {"tickets", tickets},
    {"a_list_of_all_ranks", a_list_of_all_ranks},
    {"compare_exchange", compare_exchange},
};

} // namespace

std::span<const conformance_case> atomic_cases() { return cases; }

} // namespace fult::global::testing
