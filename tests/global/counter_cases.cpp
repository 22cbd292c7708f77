// Counters, and the tasks that they start.
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "tests/global/cases.hpp"
#include "tests/random/draw.hpp"

namespace fult::global::testing {
namespace {

using random_programs::draw;

void started_at_zero(party &p) {
    memory m(p.world, {.heap = 4096});
    const std::uint64_t before = m.heap_in_use();
    {
        counter three(m, 3);
        std::atomic<int> started{0};
        int order = 0;
        auto first = three.spawn_when_zero([&] { return ++started; });
        auto second = three.spawn_when_zero([&](int a, std::unique_ptr<int> b) { return ++started + a + *b; },
                                            10, std::make_unique<int>(100));
        auto third = three.spawn_when_zero([&]() -> int & { return order; });
        auto fails = three.spawn_when_zero([] { throw std::runtime_error("it fails"); });
        three.count_down();
        three.count_down(0);
        require(!three.try_wait() && started == 0 && !first.ready(), "one of three");
        this_task::yield();
        require_equal(started.load(), 0, "started before zero");
        three.count_down(2);
        three.wait();
        require(three.try_wait(), "zero");
        const int sum = first.get() + second.get();
        require_equal(sum, 113, "results");
        require(&third.get() == &order, "a reference");
        try {
            fails.get();
            require(false, "no exception");
        } catch (const std::runtime_error &e) {
            require(std::string(e.what()) == "it fails", e.what());
        }
        require_equal(three.spawn_when_zero([] { return 7; }).get(), 7, "started after zero");
        counter none(m, 0);
        none.wait();
        require_equal(none.spawn_when_zero([] { return 8; }).get(), 8, "of a counter of zero");
    }
    require_equal(m.heap_in_use(), before, "bytes in use");
    m.barrier();
}

// What a task owns has ended when its result is there, also if it never starts.
void never_started(party &p) {
    memory m(p.world, {.heap = 4096});
    const auto owned = std::make_shared<int>(1);
    std::optional<counter> two(std::in_place, m, 2);
    two->count_down();
    auto result = two->spawn_when_zero([owned] {});
    auto another = two->spawn_when_zero([owned] { return 1; });
    require_equal(owned.use_count(), 3L, "owners");
    two.reset();
    require_equal(owned.use_count(), 1L, "owners");
    require_throw<fult::future_error>([&] { result.get(); });
    require_throw<fult::future_error>([&] { (void)another.get(); });
    m.barrier();
}

// Its end looks whether there is a result.
template <class R> struct observer {
    const fult::future<R> &result;
    std::atomic<int> &too_early;
    ~observer() { too_early += result.ready() ? 1 : 0; }
};

void closures_end_before_results(party &p) {
    memory m(p.world, {.heap = 4096});
    counter one(m, 1);
    std::atomic<int> too_early{0};
    fult::future<void> nothing;
    fult::future<int> number;
    nothing = one.spawn_when_zero(
        [own = std::unique_ptr<observer<void>>(new observer<void>{nothing, too_early})] {});
    number = one.spawn_when_zero(
        [own = std::unique_ptr<observer<int>>(new observer<int>{number, too_early})] { return 1; });
    one.count_down();
    nothing.get();
    require_equal(number.get(), 1, "result");
    require_equal(too_early.load(), 0, "results before the closures have ended");
    m.barrier();
}

void add(memory &m, global_ptr<std::int64_t> to, std::int64_t value) { *m.local(to) += value; }

// All ranks count down a counter of each; the tasks see what was written before.
void counted_by_all(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    const auto sums = all_pointers(p, m.allocate<std::int64_t>());
    const auto own = sums[static_cast<std::size_t>(p.rank)];
    for (std::int64_t round = 1; round <= 20; ++round) {
        m.put(own, std::int64_t{0});
        counter arrived(m, 5 * p.size);
        auto sum = arrived.spawn_when_zero([&] { return *m.local(own); });
        const auto counters = all_pointers(p, arrived.pointer()); // and all have begun
        for (int rank = 0; rank < p.size; ++rank) {
            const auto there = counters[static_cast<std::size_t>(rank)];
            m.fetch_add(sums[static_cast<std::size_t>(rank)], round);
            count_down(m, there);
            count_down(m, there, 2);
            m.fetch_add(sums[static_cast<std::size_t>(rank)], 10 * round);
            run_and_count_down(m, there, [] {});
            run_and_count_down(
                m, there,
                [](memory &at, global_ptr<std::int64_t> to, int value) {
                    at.fetch_add(to, value);
                    return 1.0; // dropped
                },
                sums[static_cast<std::size_t>(rank)], 100);
        }
        require_equal(sum.get(), p.size * (11 * round + 100), "sum of the ranks");
        require(arrived.try_wait(), "zero");
        m.barrier();
    }
    const global_ptr<counter> null;
    require_throw<std::out_of_range>([&] { count_down(m, null); });
    require_throw<std::out_of_range>([&] { run_and_count_down<add>(m, null, own, std::int64_t{1}); });
}

// A triangular system with ones in the diagonal: x[i] = b[i] - sum of l[i][j] * x[j] over j < i, in whole
// numbers. Each unknown has a counter of the numbers it needs and a task that it starts; ranks have the
// unknowns in turn.
class triangular {
  public:
    struct entry {
        std::size_t row;
        std::int64_t factor;
    };
    explicit triangular(std::size_t size, std::uint64_t seed) : below(size), in_row(size), right(size) {
        draw random(seed);
        for (std::size_t row = 0; row < size; ++row) {
            right[row] = static_cast<std::int64_t>(random.below(10));
            for (unsigned k = row == 0 ? 0 : static_cast<unsigned>(random.below(4)); k != 0; --k) {
                const std::size_t column = random.below(static_cast<unsigned>(row));
                below[column].push_back({row, static_cast<std::int64_t>(random.below(3)) - 1});
                ++in_row[row];
            }
        }
    }
    std::vector<std::int64_t> solve() const {
        std::vector<std::int64_t> x = right;
        for (std::size_t column = 0; column < x.size(); ++column)
            for (const entry &each : below[column])
                x[each.row] -= each.factor * x[column];
        return x;
    }
    std::vector<std::vector<entry>> below; // by column
    std::vector<int> in_row;               // entries
    std::vector<std::int64_t> right;
};

void triangular_systems(party &p) {
    const std::size_t size = fult::testing::scaled(400) + 20;
    memory m(p.world, {.heap = 1 << 20});
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const triangular system(size, seed);
        const std::vector<std::int64_t> expected = system.solve();
        const global_vector<std::int64_t> x(m, size, distribution::block_cyclic(1));
        const global_vector<global_ptr<counter>> counters(m, size, distribution::block_cyclic(1));
        std::vector<std::unique_ptr<counter>> own;
        std::vector<fult::future<void>> solved;
        std::atomic<int> wrong{0};
        for (std::size_t row = static_cast<std::size_t>(p.rank); row < size;
             row += static_cast<std::size_t>(p.size)) {
            m.put(x.pointer(row), system.right[row]);
            own.push_back(std::make_unique<counter>(m, system.in_row[row]));
            m.put(counters.pointer(row), own.back()->pointer());
        }
        m.barrier();
        for (std::size_t k = 0; k < own.size(); ++k)
            solved.push_back(own[k]->spawn_when_zero(
                [&](std::size_t column) {
                    const std::int64_t value = m.get(x.pointer(column));
                    wrong += value == expected[column] ? 0 : 1;
                    for (const triangular::entry &each : system.below[column])
                        run_and_count_down(
                            m, m.get(counters.pointer(each.row)),
                            [](memory &there, global_ptr<std::int64_t> to, std::int64_t part) {
                                there.fetch_add(to, -part);
                            },
                            x.pointer(each.row), each.factor * value);
                },
                counters.view().global_index(p.rank, k)));
        for (auto &each : solved)
            each.get();
        require_equal(wrong.load(), 0, "wrong numbers");
        for (const auto &each : own)
            each->wait(); // for the end of the last count
    }
}

// The race of the last count with tasks that are added.
void added_while_counting(party &p) {
    memory m(p.world, {.heap = 4096});
    for (std::size_t round = fult::testing::scaled(200) + 5; round-- > 0;) {
        counter c(m, 4);
        task_group tasks;
        std::atomic<int> ran{0};
        for (int i = 0; i < 4; ++i) {
            tasks.spawn([&] { c.spawn_when_zero([&] { ++ran; }).get(); });
            tasks.spawn([&] { c.count_down(); });
        }
        tasks.wait();
        require_equal(ran.load(), 4, "tasks that ran");
    }
    m.barrier();
}

// A task that has seen zero may end the counter: the one that counts does not use it any more.
void ended_when_zero(party &p) {
    memory m(p.world, {.heap = 4096});
    for (std::size_t round = fult::testing::scaled(500) + 5; round-- > 0;) {
        auto c = std::make_unique<counter>(m, 1);
        auto result = c->spawn_when_zero([] {});
        auto counts = fult::spawn([&c = *c] { c.count_down(); });
        if (round % 2 == 0)
            result.get();
        else
            c->wait();
        c.reset();
        counts.join();
    }
    m.barrier();
}

constexpr conformance_case cases[] = {
    {"started_at_zero", started_at_zero},
    {"never_started", never_started},
    {"closures_end_before_results", closures_end_before_results},
    {"counted_by_all", counted_by_all},
    {"triangular_systems", triangular_systems},
    {"added_while_counting", added_while_counting},
    {"ended_when_zero", ended_when_zero},
};

} // namespace

std::span<const conformance_case> counter_cases() { return cases; }

} // namespace fult::global::testing
