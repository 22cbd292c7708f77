// One operation so many times on one worker, for a tool that counts instructions: bench/run instructions runs
// it under Callgrind with two counts, and divides the difference. Nothing here depends on the clock, so the
// same binary gives the same count each time.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <fult/fult.hpp>

#include "micro/instructions/command_line.hpp"
#include "uts/tree.hpp"

namespace {

using namespace bench;

std::uint64_t fib(unsigned long n) {
    if (n < 2)
        return n;
    auto x = fult::spawn([n] { return fib(n - 1); });
    const std::uint64_t y = fib(n - 2);
    return x.join() + y;
}

// Of so many at a time that descriptors and stacks are used again.
template <class Function> void batches(unsigned long n, Function function) {
    constexpr unsigned long batch = 64;
    std::vector<decltype(fult::spawn(function))> tasks;
    tasks.reserve(batch);
    for (unsigned long done = 0; done < n; done += batch) {
        for (unsigned long i = 0; i < batch; ++i)
            tasks.push_back(fult::spawn(function));
        for (auto &each : tasks)
            each.join();
        tasks.clear();
    }
}

void yields(unsigned long n) {
    const auto yield_to_others = [n] {
        for (unsigned long i = 0; i < n / 2; ++i)
            fult::this_task::yield();
    };
    fult::join_all(fult::spawn(yield_to_others), fult::spawn(yield_to_others));
}

// One way of a ping-pong: a signal, a wait, and the switch to the other.
void signals_and_waits(unsigned long n) {
    struct side {
        unsigned long turn = 0;
        fult::task_id task;
    };
    side sides[2];
    const auto play = [n](side &mine, side &other, bool first) {
        mine.task = fult::this_task::id();
        while (!other.task)
            fult::this_task::yield();
        for (unsigned long k = 1; k <= n / 2; ++k) {
            if (!first)
                while (other.turn < k)
                    fult::this_task::wait();
            mine.turn = k;
            fult::signal(other.task);
            if (first)
                while (other.turn < k)
                    fult::this_task::wait();
        }
    };
    auto a = fult::spawn([&] { play(sides[0], sides[1], true); });
    auto b = fult::spawn([&] { play(sides[1], sides[0], false); });
    fult::join_all(a, b);
}

// One task wakes 64 others, the last of which wakes it.
void wake_ups(unsigned long n) {
    constexpr unsigned long crowd = 64;
    const unsigned long rounds = n / crowd;
    unsigned long round = 0, awake = 0;
    const fult::task_id waker = fult::this_task::id();
    std::vector<fult::handle<void>> tasks;
    for (unsigned long i = 0; i < crowd; ++i)
        tasks.push_back(fult::spawn([&round, &awake, rounds, waker] {
            for (unsigned long mine = 1; mine <= rounds; ++mine) {
                while (round < mine)
                    fult::this_task::wait();
                if (++awake == mine * crowd)
                    fult::signal(waker);
            }
        }));
    while (round < rounds) {
        ++round;
        for (const auto &each : tasks)
            fult::signal(each.id());
        while (awake < round * crowd)
            fult::this_task::wait();
    }
    for (auto &each : tasks)
        each.join();
}

std::uint64_t search(const uts::node &here);

std::uint64_t search_children(const uts::node &here, unsigned count) {
    const auto spawn_child = [&here](unsigned i) {
        return fult::spawn([&here, i] { return search(uts::child_node(here, i)); });
    };
    std::vector<decltype(spawn_child(0))> children;
    children.reserve(count);
    for (unsigned i = 0; i < count; ++i)
        children.push_back(spawn_child(i));
    std::uint64_t nodes = 1;
    while (count > 0)
        nodes += children[--count].join();
    return nodes;
}

std::uint64_t search(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    return count == 0 ? 1 : search_children(here, count);
}

std::uint64_t search_serially(const uts::node &here) {
    const unsigned count = uts::child_count(here);
    std::uint64_t nodes = 1;
    for (unsigned i = 0; i < count; ++i)
        nodes += search_serially(uts::child_node(here, i));
    return nodes;
}

// Here n is the depth of a geometric tree; its nodes are counted.
template <std::uint64_t (&Search)(const uts::node &)> std::uint64_t tree(unsigned long n) {
    uts::current_tree = uts::parameters{};
    uts::current_tree.depth = static_cast<int>(n);
    return Search(uts::root_node());
}

template <class Function> std::uint64_t of(unsigned long n, Function function) {
    function(n);
    return n;
}

// Operations by name: each returns how many there were.
const std::map<std::string, std::function<std::uint64_t(unsigned long)>> operations = {
    {"nothing", [](unsigned long n) { return n; }},
    {"fib",
     [](unsigned long n) {
         // a call with n >= 2 spawns one task, and there are fib(n + 1) - 1 such calls
         fib(n);
         std::uint64_t a = 0, b = 1;
         for (unsigned long i = 0; i < n; ++i)
             a = std::exchange(b, a + b);
         return b - 1;
     }},
    {"spawn_join", [](unsigned long n) { return of(n, [](auto m) { batches(m, [] {}); }); }},
    {"spawn_join_stack",
     [](unsigned long n) { return of(n, [](auto m) { batches(m, [] { fult::this_task::yield(); }); }); }},
    {"yield", [](unsigned long n) { return of(n, yields); }},
    {"signal_wait", [](unsigned long n) { return of(n, signals_and_waits); }},
    {"wake_ups", [](unsigned long n) { return of(n, wake_ups); }},
    {"uts", tree<search>},
    {"uts_serial", tree<search_serially>},
};

} // namespace

int main(int argc, char **argv) {
    counted_operation wanted;
    if (const auto status = wanted.read(
            "Prints how many operations were made; for fib COUNT is its argument, for uts a depth.",
            operations, argc, argv))
        return *status;
    fult::options one = fult::read_options();
    one.workers = 1;
    const fult::runtime running(one);
    std::printf("%llu\n", static_cast<unsigned long long>(operations.at(wanted.name)(wanted.count)));
}
