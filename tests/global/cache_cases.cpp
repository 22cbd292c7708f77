// The cache, alone and against oracles.
#include <algorithm>
#include <list>
#include <map>

#include "tests/global/cases.hpp"
#include "tests/random/draw.hpp"

namespace fult::global::testing {
namespace {

using random_programs::draw;
using number = std::uint64_t;

// A memory with numbers of each rank.
struct numbers {
    memory in;
    std::vector<global_ptr<number>> all;
    numbers(party &p, std::size_t count)
        : in(p.world, {.heap = 1 << 20}), all(all_pointers(p, in.allocate<number>(count))) {
        write(p.rank, count, 0);
        in.barrier();
    }
    void write(int rank, std::size_t count, number change) {
        number *const here = in.local(all[static_cast<std::size_t>(rank)], count);
        for (std::size_t i = 0; i < count; ++i)
            here[i] = number_of(rank, i) + change;
    }
    global_ptr<number> at(int rank, std::size_t index) const {
        return all[static_cast<std::size_t>(rank)] + static_cast<std::ptrdiff_t>(index);
    }
};

void one_transfer_for_many(party &p) {
    numbers n(p, 100);
    if (p.size > 1)
        for (const cache_policy policy : {cache_policy::keep_all, cache_policy::lru}) {
            cache c(n.in, {.policy = policy});
            const std::size_t tasks = 200;
            std::atomic<std::size_t> right{0};
            task_group group;
            for (std::size_t i = 0; i < tasks; ++i)
                group.spawn([&] {
                    const cached<number> got = c.get(n.at(p.next(), 5));
                    right += *got == number_of(p.next(), 5) ? 1 : 0;
                });
            group.wait();
            require_equal(right.load(), tasks, "right values");
            const cache_counters counted = c.counters();
            require_equal(counted.misses, number{1}, "transfers");
            require_equal(counted.hits + counted.joined, tasks - 1, "others");
            require_equal(counted.fetched, sizeof(number), "bytes");
            require_equal(counted.lines, number{1}, "lines");
        }
    n.in.barrier();
}

void three_gets(party &p) {
    numbers n(p, 100);
    cache c(n.in);
    const auto place = n.at(p.next(), 3);
    if (p.size == 1) { // the own heap is not copied
        require(&*c.get(place) == n.in.local(place) && &*c.get_cached(place) == &*c.fetch(place),
                "the object itself");
        require_equal(c.counters().lines, number{0}, "lines");
        return;
    }
    require_throw<not_cached>([&] { (void)c.get_cached(place); });
    const cached<number> before = c.get(place);
    require_equal(*c.get_cached(place), *before, "what is cached");
    require(&*c.get(place) == &*before, "the same line");
    n.in.barrier();
    n.write(p.rank, 100, 1'000'000);
    n.in.barrier();
    require_equal(*c.get(place), number_of(p.next(), 3), "what is cached stays");
    const cached<number> after = c.fetch(place);
    require_equal(*after, number_of(p.next(), 3) + 1'000'000, "what fetch has fetched");
    require_equal(*before, number_of(p.next(), 3), "a handle keeps what it had");
    require(&*c.get_cached(place) == &*after, "fetch has replaced the line");
    c.invalidate(place);
    require_throw<not_cached>([&] { (void)c.get_cached(place); });
    require_equal(*after, number_of(p.next(), 3) + 1'000'000, "a handle keeps what it had");
    const cached<number> run = c.get(place, 10); // another line, though it begins there
    require_equal(run.size(), std::size_t{10}, "its size");
    require_equal(run[9], number_of(p.next(), 12) + 1'000'000, "its last object");
    const global_ptr<const number> constant = place;
    require(&*c.get(constant, 10) == &run[0], "a pointer to constants");
    c.invalidate();
    require_equal(c.counters().lines, number{0}, "lines");
    n.in.barrier();
}

void nothing_kept(party &p) {
    numbers n(p, 100);
    cache c(n.in, {.policy = cache_policy::none});
    if (p.size > 1) {
        const cached<number> one = c.get(n.at(p.next(), 3)), two = c.get(n.at(p.next(), 3));
        require(&*one != &*two && *one == *two, "a copy each");
        require_throw<not_cached>([&] { (void)c.get_cached(n.at(p.next(), 3)); });
        require_equal(c.counters().misses, number{2}, "transfers");
        require_equal(c.counters().bytes, number{0}, "kept");
    }
    n.in.barrier();
}

void phases(party &p) {
    numbers n(p, 50);
    cache c(n.in);
    for (number round = 0; round < 10; ++round) {
        for (int rank = 0; rank < p.size; ++rank)
            for (std::size_t i = 0; i < 50; i += 7)
                require_equal(*c.get(n.at(rank, i)), number_of(rank, i) + round, "of this phase");
        c.end_phase(); // all have read
        n.write(p.rank, 50, round + 1);
        c.end_phase(); // all have written
    }
    if (p.size > 1) {
        c.get(n.at(p.next(), 0));
        std::FILE *const to = std::tmpfile();
        c.print_counters(to);
        std::rewind(to);
        char line[300] = "";
        require(std::fgets(line, sizeof line, to) != nullptr, "a line");
        std::fclose(to);
        require(std::string(line).find(std::to_string(c.counters().misses) + " misses") != std::string::npos,
                line);
    }
    n.in.barrier();
}

void failed_transfers(party &p) {
    numbers n(p, 10);
    cache c(n.in);
    const global_ptr<number> outside(p.next(), (1 << 20) - 4);
    for (int i = 0; i < 3; ++i)
        require_throw<std::out_of_range>([&] { (void)c.get(outside); });
    require_throw<std::out_of_range>([&] { (void)c.fetch(global_ptr<number>()); });
    require_equal(c.counters().lines, number{0}, "lines");
    require_throw<std::invalid_argument>([&] { const cache three(n.in, {.shards = 3}); });
    n.in.barrier();
}

// Lines in the order of their last release, within a bound: one shard is exact.
class lru_oracle {
  public:
    explicit lru_oracle(std::size_t most) : most_(most) {}
    bool use(std::size_t index) { // true: a hit
        const auto found = std::find(order_.begin(), order_.end(), index);
        const bool hit = found != order_.end();
        if (hit)
            order_.erase(found);
        order_.push_front(index);
        if (order_.size() > most_) {
            order_.pop_back();
            ++evictions;
        }
        return hit;
    }
    bool has(std::size_t index) const {
        return std::find(order_.begin(), order_.end(), index) != order_.end();
    }
    void drop(std::size_t index) { order_.remove(index); }
    std::size_t size() const { return order_.size(); }
    number evictions = 0;

  private:
    std::size_t most_;
    std::list<std::size_t> order_;
};

void least_recently_used(party &p) {
    numbers n(p, 100);
    if (p.size > 1)
        for (const std::size_t most : {1, 2, 10, 60}) {
            cache c(n.in, {.policy = cache_policy::lru,
                           .bytes = most * cache::footprint(sizeof(number)) + 8,
                           .shards = 1});
            lru_oracle oracle(most);
            draw random(most);
            number hits = 0;
            for (int step = 0; step < 1000; ++step) {
                const std::size_t i = random.below(random.one_in(2) ? 8 : 100);
                const auto place = n.at(p.next(), i);
                if (random.one_in(10)) {
                    if (oracle.has(i)) {
                        require_equal(*c.get_cached(place), number_of(p.next(), i), "cached value");
                        oracle.use(i);
                        ++hits;
                    } else {
                        require_throw<not_cached>([&] { (void)c.get_cached(place); });
                    }
                } else if (random.one_in(20)) {
                    c.invalidate(place);
                    oracle.drop(i);
                } else {
                    require_equal(*c.get(place), number_of(p.next(), i), "value");
                    hits += oracle.use(i) ? 1 : 0;
                }
                require_equal(c.counters().lines, oracle.size(), "lines");
            }
            require_equal(c.counters().hits, hits, "hits");
            require_equal(c.counters().evictions, oracle.evictions, "evictions");
        }
    n.in.barrier();
}

// What is pinned is neither evicted nor changed; the bound holds again when it is released.
void pins(party &p) {
    numbers n(p, 100);
    if (p.size > 1) {
        const std::size_t line = cache::footprint(sizeof(number));
        cache c(n.in, {.policy = cache_policy::lru, .bytes = 2 * line, .shards = 1});
        std::vector<cached<number>> held;
        for (std::size_t i = 0; i < 10; ++i)
            held.push_back(c.get(n.at(p.next(), i)));
        require_equal(c.counters().lines, number{10}, "all are pinned");
        for (std::size_t i = 0; i < 10; ++i)
            require(&*c.get(n.at(p.next(), i)) == &*held[i], "the same line");
        require_equal(c.counters().misses, number{10}, "one transfer each");
        held.erase(held.begin() + 3, held.end());
        require_equal(c.counters().lines, number{3}, "released lines are evicted");
        c.invalidate();
        require_equal(c.counters().lines, number{0}, "lines");
        for (std::size_t i = 0; i < 3; ++i)
            require_equal(*held[i], number_of(p.next(), i), "it is there");
        held[0] = std::move(held[1]);
        require(!held[1] && *held[0] == number_of(p.next(), 1), "moved");
    }
    n.in.barrier();
}

// Many tasks get, get again, drop and hold lines of all ranks; each must see the value of the phase.
void random_uses(party &p) {
    constexpr std::size_t count = 300;
    numbers n(p, count);
    const cache_options ways[] = {
        {.policy = cache_policy::keep_all},
        {.policy = cache_policy::lru, .bytes = 20 * cache::footprint(64), .shards = 2},
        {.policy = cache_policy::none}};
    for (const cache_options &settings : ways) {
        cache c(n.in, settings);
        for (number phase = 0; phase < 3; ++phase) {
            task_group tasks;
            for (std::uint64_t seed = 0; seed < 20; ++seed)
                tasks.spawn([&, seed] {
                    draw random(seed * 100 + phase);
                    std::map<std::size_t, cached<number>> held;
                    for (int step = 0; step < (fult::testing::sanitized ? 20 : 100); ++step) {
                        const int rank = static_cast<int>(random.below(static_cast<unsigned>(p.size)));
                        const std::size_t index = random.below(random.one_in(3) ? count - 8 : 10),
                                          run = random.between(1, 8);
                        const auto place = n.at(rank, index);
                        switch (random.below(12)) {
                        case 0:
                            c.invalidate(place, run);
                            continue;
                        case 1:
                            held.clear();
                            continue;
                        default:
                            break;
                        }
                        cached<number> got = random.one_in(10) ? c.fetch(place, run) : c.get(place, run);
                        for (std::size_t i = 0; i < run; ++i)
                            require_equal(got[i], number_of(rank, index + i) + phase, "value");
                        if (random.one_in(4))
                            held[index] = std::move(got);
                        if (random.one_in(8))
                            this_task::yield();
                    }
                });
            tasks.wait();
            if (settings.policy == cache_policy::lru)
                require(c.counters().bytes <= settings.bytes, "within the bound, once nothing is held");
            c.end_phase();
            n.write(p.rank, count, phase + 1);
            c.end_phase();
        }
        n.write(p.rank, count, 0);
        n.in.barrier();
        require_equal(c.counters().lines, number{0}, "lines");
    }
}

constexpr conformance_case cases[] = {
    {"one_transfer_for_many", one_transfer_for_many},
    {"three_gets", three_gets},
    {"nothing_kept", nothing_kept},
    {"phases", phases},
    {"failed_transfers", failed_transfers},
    {"least_recently_used", least_recently_used},
    {"pins", pins},
    {"random_uses", random_uses},
};

} // namespace

std::span<const conformance_case> cache_cases() { return cases; }

} // namespace fult::global::testing
