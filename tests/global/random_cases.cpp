// Random operations of all ranks, against an array that each rank computes for itself. All draw the same
// operations from one seed; each executes its own. In a round, no two operations are on the same element, but
// additions, whose order does not matter. Some ranks may map no heaps, so that an element is accessed both in
// memory and by its owner.
#include <algorithm>

#include "tests/global/cases.hpp"
#include "tests/random/draw.hpp"

namespace fult::global::testing {
namespace {

using random_programs::draw;

enum class kind {
    put,
    put_many,
    iput,
    put_strided,
    scatter,
    signal,
    fetch_add,
    compare_exchange,
    get_many,
    iget,
    count
};

constexpr std::size_t fewest_elements = 60, most_elements = 4000;
constexpr std::size_t most_gap = 2, most_run = 40;

struct operation {
    kind what{};
    int rank = 0;          // that executes it
    std::size_t first = 0; // index of its first element
    std::size_t count = 1; // elements
    std::uint64_t value = 0;

    std::uint64_t value_of(std::size_t i) const { return value + i * 77; }
};

class program {
  public:
    program(party &p, std::uint64_t seed)
        : p_(p),
          random_(seed),
          elements_(random_.between(fewest_elements, most_elements)),
          memory_(p.world, {.heap = 1 << 18}),
          vector_(memory_, elements_, distribution::block_cyclic(random_.between(1, 300))),
          expected_(elements_) {
        const bool mixed = random_.one_in(3);
        for (int rank = 0; rank < p.size; ++rank)
            if (mixed && random_.one_in(2) && rank == p.rank)
                unmap_others(p, memory_);
    }

    void run(int rounds) {
        for (int round = 0; round < rounds; ++round) {
            const auto all = draw_round();
            task_group tasks; // several of a rank are under way at a time
            for (const operation &each : all)
                if (each.rank == p_.rank)
                    tasks.spawn([this, &each] { execute(each); });
            tasks.wait();
            for (const operation &each : all)
                apply(each);
            memory_.barrier();
            check();
            memory_.barrier(); // no rank changes what others check
        }
    }

  private:
    std::vector<operation> draw_round() {
        std::vector<operation> all;
        for (std::size_t next = 0; next + most_gap + most_run <= elements_;) {
            operation each;
            each.what = static_cast<kind>(random_.below(static_cast<unsigned>(kind::count)));
            each.rank = static_cast<int>(random_.below(static_cast<unsigned>(p_.size)));
            each.first = next + random_.below(most_gap + 1);
            const bool one = each.what == kind::put || each.what == kind::compare_exchange;
            each.count = one ? 1 : random_.between(1, most_run);
            if (!one && random_.one_in(30)) // to many owners, in several messages each
                each.count = elements_ - each.first;
            each.value = random_.next();
            next = each.first + each.count;
            all.push_back(each);
            if (each.what == kind::fetch_add) // of all ranks, to the same elements
                for (int rank = 0; rank < p_.size; ++rank) {
                    each.rank = rank;
                    each.value = random_.next();
                    all.push_back(each);
                }
        }
        return all;
    }

    void execute(const operation &o) {
        std::vector<std::uint64_t> values(o.count);
        for (std::size_t i = 0; i < o.count; ++i)
            values[i] = o.value_of(i);
        switch (o.what) {
        case kind::put:
            vector_.put(o.first, o.value);
            break;
        case kind::put_many:
            vector_.put(o.first, values);
            break;
        case kind::iput:
            start_all(
                o, [&](auto to, std::size_t i) { return memory_.iput(to, std::span(values).subspan(i, 1)); });
            break;
        case kind::put_strided:
            put_strided(o, values);
            break;
        case kind::scatter:
            memory_.scatter(pointers(o), values);
            break;
        case kind::signal:
            for (std::size_t i = 0; i < o.count; ++i)
                put_and_signal(o, i, values[i]);
            break;
        case kind::fetch_add:
            for (std::size_t i = 0; i < o.count; ++i)
                memory_.fetch_add(vector_.pointer(o.first + i), values[i]);
            break;
        case kind::compare_exchange: {
            std::uint64_t now = ~o.value; // most likely another one
            while (!memory_.compare_exchange(vector_.pointer(o.first), now, o.value)) {
            }
            break;
        }
        case kind::get_many:
            vector_.get(o.first, values);
            require_expected(o.first, values); // no other operation of the round is on them
            break;
        case kind::iget:
            start_all(o, [&](auto from, std::size_t i) {
                return memory_.iget(from, std::span(values).subspan(i, 1));
            });
            require_expected(o.first, values);
            break;
        case kind::count:
            break;
        }
    }
    template <class Start> void start_all(const operation &o, Start start) {
        std::vector<comm::request> started;
        for (std::size_t i = 0; i < o.count; ++i)
            started.push_back(start(vector_.pointer(o.first + i), i));
        comm::wait_all(started);
    }
    // Each run within its block: pairs of elements, and the last one.
    void put_strided(const operation &o, const std::vector<std::uint64_t> &values) {
        for (std::size_t done = 0; done < o.count;) {
            const std::size_t rest = std::min(vector_.view().block_remainder(o.first + done), o.count - done);
            const std::size_t length = rest % 2 == 0 ? 2 : 1;
            memory_.put(vector_.pointer(o.first + done),
                        strided{rest / length, length, static_cast<std::ptrdiff_t>(length)},
                        std::span(values).subspan(done, rest));
            done += rest;
        }
    }
    void put_and_signal(const operation &o, std::size_t i, std::uint64_t value) {
        const auto to = vector_.pointer(o.first + i);
        if (to.rank() != p_.rank)
            return memory_.put(to, value);
        const std::uint32_t tag = static_cast<std::uint32_t>(o.first + i);
        memory_.put_signal(to, std::span(&value, 1), p_.world, tag);
        p_.world.recv(nullptr, 0, p_.rank, tag);
    }
    std::vector<global_ptr<std::uint64_t>> pointers(const operation &o) const {
        std::vector<global_ptr<std::uint64_t>> all;
        for (std::size_t i = 0; i < o.count; ++i)
            all.push_back(vector_.pointer(o.first + i));
        return all;
    }

    void apply(const operation &o) {
        if (o.what == kind::get_many || o.what == kind::iget)
            return;
        for (std::size_t i = 0; i < o.count; ++i)
            if (o.what == kind::fetch_add)
                expected_[o.first + i] += o.value_of(i);
            else
                expected_[o.first + i] = o.value_of(i);
    }

    // Reads in one of the ways.
    void check() {
        std::vector<std::uint64_t> got(elements_);
        draw own(random_.next() + static_cast<std::uint64_t>(p_.rank));
        switch (own.below(3)) {
        case 0:
            vector_.get(0, got);
            break;
        case 1:
            memory_.gather(pointers({.first = 0, .count = elements_}), got);
            break;
        default:
            get_cached(got);
        }
        require_expected(0, got);
    }
    void require_expected(std::size_t first, const std::vector<std::uint64_t> &got) const {
        for (std::size_t i = 0; i < got.size(); ++i)
            require_equal(got[i], expected_[first + i], "element " + std::to_string(first + i));
    }
    void get_cached(std::vector<std::uint64_t> &got) {
        cache kept(memory_);
        parallel_for(std::size_t{0}, elements_,
                     [&](std::size_t i) { got[i] = *kept.get(vector_.pointer(i)); });
    }

    party &p_;
    draw random_;
    const std::size_t elements_;
    memory memory_;
    global_vector<std::uint64_t> vector_;
    std::vector<std::uint64_t> expected_;
};

void random_operations(party &p) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        program(p, seed).run(fult::testing::sanitized ? 2 : 6);
}

constexpr conformance_case cases[] = {{"random_operations", random_operations}};

} // namespace

void run_random_program(party &p, std::uint64_t seed) { program(p, seed).run(6); }

std::span<const conformance_case> random_cases() { return cases; }

} // namespace fult::global::testing
