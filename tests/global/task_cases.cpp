// Tasks at other ranks.
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "tests/global/cases.hpp"

namespace fult::global::testing {
namespace {

struct request {
    double factor;
    int count;
};

int rank_here(memory &m) { return m.rank(); }
long product(int a, long b) { return a * b; }

double sum_of_own(memory &m, vector_layout<double> numbers, request wanted) {
    double sum = 0;
    for (int k = 0; k < wanted.count; ++k) // elements of this rank, as their pointers lead to
        sum += m.get(numbers.pointer(numbers.global_index(m.rank(), static_cast<std::size_t>(k))));
    return wanted.factor * sum;
}

// Waits for the rank that has started it: a task may suspend there.
int from_the_starter(memory &m, global_ptr<int> flag) {
    int value = 0;
    while ((value = m.fetch_add(flag, 0)) == 0)
        this_task::yield();
    return value;
}

int fails(int number) {
    if (number == 0)
        throw std::runtime_error("the number is 0");
    throw number; // no std::exception
}

void results(party &p) {
    memory m(p.world, {.heap = 1 << 16});
    for (int rank = 0; rank < p.size; ++rank) { // also here
        require_equal(spawn_at<rank_here>(m, rank).join(), rank, "rank");
        require_equal(spawn_at<product>(m, rank, 6, 7L).join(), 42L, "product");
        auto lambda = spawn_at(
            m, rank,
            [](memory &there, char a, std::uint64_t b) {
                return b + static_cast<std::uint64_t>(there.rank() + a);
            },
            'a', std::uint64_t{1} << 40);
        require_equal(lambda.join(), (std::uint64_t{1} << 40) + 'a' + static_cast<std::uint64_t>(rank),
                      "of a lambda");
        require(!lambda.valid(), "joined");
    }
    const global_vector<double> numbers(m, 100);
    std::iota(numbers.local().begin(), numbers.local().end(), 1.0);
    m.barrier();
    auto sum = spawn_at<sum_of_own>(m, p.next(), numbers.view(), request{2, 3});
    require_equal(sum.join(), 12.0, "of another rank's elements");
    m.barrier();
}

void a_task_there_suspends(party &p) {
    memory m(p.world, {.heap = 4096});
    const auto flag = m.allocate<int>();
    m.put(flag, 0);
    auto waits = spawn_at<from_the_starter>(m, p.next(), flag);
    require(!waits.done(), "it waits");
    m.fetch_add(flag, 7);
    require_equal(waits.join(), 7, "what it has read");
}

void errors(party &p) {
    memory m(p.world, {.heap = 4096});
    for (const int number : {0, 1}) {
        auto task = spawn_at<fails>(m, p.next(), number);
        try {
            task.join();
            require(false, "no error");
        } catch (const remote_error &e) {
            const std::string text = e.what();
            require_equal(e.rank(), p.next(), "rank of the error");
            require(text.find("fails") != std::string::npos, text);
            require((text.find("the number is 0") != std::string::npos) == (number == 0), text);
        }
    }
    require_throw<std::out_of_range>([&] { (void)spawn_at<product>(m, p.size, 1, 1L); });
    require_throw<std::out_of_range>([&] { (void)spawn_at<product>(m, -1, 1, 1L); });
}

// Many at a time, joined in another order; some are detached, which the end of the memory waits for.
void many(party &p) {
    memory m(p.world, {.heap = 4096});
    const auto counters = all_pointers(p, m.allocate<std::int64_t>());
    m.put(counters[static_cast<std::size_t>(p.rank)], std::int64_t{0});
    m.barrier();
    const int count = static_cast<int>(fult::testing::scaled(1000)) + 10;
    const auto add = [](memory &there, global_ptr<std::int64_t> to, int number) {
        there.fetch_add(to, number);
        return number;
    };
    std::vector<remote_task<int>> started;
    for (int i = 0; i < count; ++i)
        started.push_back(
            spawn_at(m, i % p.size, add, counters[static_cast<std::size_t>((i + 1) % p.size)], i));
    for (int i = count; i-- > 0;)
        require_equal(started[static_cast<std::size_t>(i)].join(), i, "result");
    m.barrier();
    std::int64_t sum = 0;
    for (const auto &each : counters)
        sum += m.get(each);
    require_equal(sum, std::int64_t{count} * (count - 1) / 2 * p.size, "sum");
    m.barrier(); // what follows changes a counter
    for (int i = 0; i < 20; ++i) {
        spawn_detached_at(m, p.next(), add, counters[0], 1);
        spawn_at(m, p.next(), add, counters[0], 1).detach();
    }
    (void)spawn_at(m, p.next(), add, counters[0], 1); // its handle detaches
}

constexpr conformance_case cases[] = {
    {"task_results", results},
    {"a_task_there_suspends", a_task_there_suspends},
    {"task_errors", errors},
    {"many_tasks_there", many},
};

} // namespace

std::span<const conformance_case> task_cases() { return cases; }

} // namespace fult::global::testing
