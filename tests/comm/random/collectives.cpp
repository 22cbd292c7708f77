// Sequences of collectives, whose results every rank computes for itself.
#include "tests/comm/random/scene.hpp"

namespace fult::comm::testing {
namespace {

// Not commutative: 2x2 matrices of integers that wrap.
struct matrix {
    std::uint64_t a, b, c, d;
    bool operator==(const matrix &) const = default;
};
constexpr auto multiplied = [](const matrix &x, const matrix &y) -> matrix {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
};

// A call of the sequence, as known to all ranks.
struct call {
    std::uint64_t seed;
    int root;
    std::size_t count; // elements of a rank, or of a block
    actor &by;
    endpoint &at;

    int rank() const noexcept { return at.rank(); }
    int size() const noexcept { return at.size(); }
    std::size_t ranks() const noexcept { return static_cast<std::size_t>(at.size()); }
    std::uint64_t value(int of, std::size_t i) const noexcept { return seed_of(seed, of, i); }
    std::vector<std::uint64_t> values(int of, std::size_t n) const {
        std::vector<std::uint64_t> all(n);
        for (std::size_t i = 0; i < n; ++i)
            all[i] = value(of, i);
        return all;
    }
    matrix matrix_of(int of, std::size_t i) const noexcept {
        return {value(of, i), value(of, i + 7), value(of, i + 13), value(of, i + 31)};
    }
    std::vector<matrix> matrices(int of) const {
        std::vector<matrix> all(count);
        for (std::size_t i = 0; i < count; ++i)
            all[i] = matrix_of(of, i);
        return all;
    }
    std::vector<matrix> product() const {
        std::vector<matrix> all = matrices(0);
        for (int of = 1; of < size(); ++of)
            for (std::size_t i = 0; i < count; ++i)
                all[i] = multiplied(all[i], matrix_of(of, i));
        return all;
    }
    void expect(bool holds, const char *what) const {
        by.in.expect(holds, std::string(what) + ": wrong, of " + std::to_string(count) + " elements, root " +
                                std::to_string(root));
    }
};

void do_barrier(const call &c) {
    // No rank leaves before all have arrived: each one shows its number.
    barrier(c.at);
}

void do_broadcast(const call &c) {
    std::vector<std::uint64_t> data =
        c.rank() == c.root ? c.values(c.root, c.count) : std::vector<std::uint64_t>(c.count);
    broadcast(c.at, data, c.root);
    c.expect(data == c.values(c.root, c.count), "broadcast");
}

void do_reduce(const call &c) {
    const std::vector<matrix> in = c.matrices(c.rank());
    std::vector<matrix> out(c.rank() == c.root ? c.count : 0);
    reduce(c.at, in, out, multiplied, c.root);
    c.expect(in == c.matrices(c.rank()), "reduce, its input");
    c.expect(c.rank() != c.root || out == c.product(), "reduce");
}

void do_allreduce(const call &c) {
    std::vector<matrix> in = c.matrices(c.rank());
    if (c.seed % 3 == 0) {
        allreduce(c.at, in, in, multiplied); // in its place
        c.expect(in == c.product(), "allreduce in place");
        return;
    }
    std::vector<matrix> out(c.count);
    allreduce(c.at, in, out, multiplied);
    c.expect(out == c.product(), "allreduce");
}

void do_allreduce_of_one(const call &c) {
    const auto most = [](std::uint64_t a, std::uint64_t b) { return a < b ? b : a; };
    std::uint64_t wanted = 0;
    for (int of = 0; of < c.size(); ++of)
        wanted = most(wanted, c.value(of, 0));
    c.expect(allreduce(c.at, c.value(c.rank(), 0), most) == wanted, "allreduce of one value");
}

std::vector<std::uint64_t> all_values(const call &c) {
    std::vector<std::uint64_t> all;
    for (int of = 0; of < c.size(); ++of)
        for (const std::uint64_t each : c.values(of, c.count))
            all.push_back(each);
    return all;
}

void do_gather(const call &c) {
    std::vector<std::uint64_t> out(c.rank() == c.root ? c.count * c.ranks() : 0);
    gather(c.at, c.values(c.rank(), c.count), out, c.root);
    c.expect(c.rank() != c.root || out == all_values(c), "gather");
}

void do_allgather(const call &c) {
    std::vector<std::uint64_t> out(c.count * c.ranks());
    allgather(c.at, c.values(c.rank(), c.count), out);
    c.expect(out == all_values(c), "allgather");
}

void do_alltoall(const call &c) {
    const std::vector<std::uint64_t> in = c.values(c.rank(), c.count * c.ranks());
    std::vector<std::uint64_t> out(in.size());
    alltoall(c.at, in, out);
    for (int of = 0; of < c.size(); ++of)
        for (std::size_t i = 0; i < c.count; ++i)
            c.expect(out[static_cast<std::size_t>(of) * c.count + i] ==
                         c.value(of, static_cast<std::size_t>(c.rank()) * c.count + i),
                     "alltoall");
}

// Elements of three bytes, so that nothing is aligned.
struct odd {
    unsigned char bytes[3];
    bool operator==(const odd &) const = default;
};
odd odd_of(std::uint64_t v) {
    return {{static_cast<unsigned char>(v), static_cast<unsigned char>(v >> 8),
             static_cast<unsigned char>(v >> 16)}};
}

void do_alltoallv(const call &c) {
    const auto count = [&](int from, int to) -> std::size_t {
        return seed_of(c.seed, from, to, 5) % (c.count + 1);
    };
    std::vector<std::size_t> in_counts, out_counts;
    std::vector<odd> in;
    std::size_t expected = 0;
    for (int other = 0; other < c.size(); ++other) {
        in_counts.push_back(count(c.rank(), other));
        out_counts.push_back(count(other, c.rank()));
        expected += out_counts.back();
        for (std::size_t i = 0; i < in_counts.back(); ++i)
            in.push_back(odd_of(seed_of(c.seed, c.rank(), other, i)));
    }
    std::vector<odd> out(expected);
    alltoallv(c.at, in, in_counts, out, out_counts);
    std::size_t at = 0;
    for (int from = 0; from < c.size(); ++from)
        for (std::size_t i = 0; i < out_counts[static_cast<std::size_t>(from)]; ++i)
            c.expect(out[at++] == odd_of(seed_of(c.seed, from, c.rank(), i)), "alltoallv");
}

struct operation {
    const char *name;
    void (*run)(const call &);
};
constexpr operation operations[] = {
    {"barrier", do_barrier},
    {"broadcast", do_broadcast},
    {"reduce", do_reduce},
    {"allreduce", do_allreduce},
    {"allreduce of one", do_allreduce_of_one},
    {"gather", do_gather},
    {"allgather", do_allgather},
    {"alltoall", do_alltoall},
    {"alltoallv", do_alltoallv},
};

void run_sequence(actor &by) {
    scene &in = by.in;
    dice d = in.shared(1);
    bool lost = false;
    for (int n = d.between(1, 15); n > 0; --n) {
        const operation &what = d.one_of(operations);
        const std::uint64_t seed = d.next();
        const int root = d.below(in.me.size);
        const std::size_t count = d.chance(60) ? d.below(std::size_t{40}) : d.below(std::size_t{6000});
        const bool went_well = by.attempt(any_rank, what.name, [&] {
            what.run(call{seed, root, count, by, in.own[0]});
        });
        in.expect(!lost || !went_well, std::string(what.name) + " went well after another had lost a rank");
        lost = lost || !went_well;
        by.dawdle();
    }
}

endpoint_options of_any_delivery(scene &in, std::uint64_t) {
    dice d = in.shared(2);
    return {.wildcards = d.chance(30), .delivery = d.chance(30) ? delivery::queued : delivery::matched};
}

void begin_collectives(scene &in) { in.all->add(in, "collectives", run_sequence); }

constexpr act_kind collectives_kinds[] = {{"collectives", 1, of_any_delivery, begin_collectives, nullptr}};

} // namespace

std::span<const act_kind> collective_acts() { return collectives_kinds; }

} // namespace fult::comm::testing
