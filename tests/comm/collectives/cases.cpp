#include "tests/comm/collectives/cases.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

namespace fult::comm::testing {
namespace {

// Sizes around the thresholds between the algorithms, mostly in elements of eight bytes.
constexpr std::size_t counts[] = {0, 1, 3, 64, 1000, 2047, 2048, 4096, 8191, 50'000};

std::uint64_t value_of(int rank, std::size_t i) {
    return (static_cast<std::uint64_t>(rank) + 1) * 1'000'003 + i * 7919;
}
std::vector<std::uint64_t> values_of(int rank, std::size_t count) {
    std::vector<std::uint64_t> all(count);
    for (std::size_t i = 0; i < count; ++i)
        all[i] = value_of(rank, i);
    return all;
}

// Associative, not commutative, and exact: 2 x 2 matrices modulo 2^32.
struct matrix {
    std::uint32_t a, b, c, d;
    friend bool operator==(const matrix &, const matrix &) = default;
};
struct product {
    matrix operator()(const matrix &x, const matrix &y) const {
        return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
    }
};
matrix matrix_of(int rank, std::size_t i) {
    const auto r = static_cast<std::uint32_t>(rank), k = static_cast<std::uint32_t>(i);
    return {3 * r + 1, k + 2, r * k + 5, 7 * r + k + 1};
}

// An operation may be a plain function.
std::uint64_t sum_of(std::uint64_t x, std::uint64_t y) { return x + y; }

void barriers(party &p) {
    endpoint own = p.make_endpoint({});
    for (int i = 0; i < 50; ++i)
        comm::barrier(own);
}

void broadcasts(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : counts)
        for (int root = 0; root < p.size; ++root) {
            auto values = values_of(p.rank, count);
            broadcast(own, values, root);
            require(values == values_of(root, count), "the root's values, " + std::to_string(count));
        }
    std::vector<std::byte> odd = bytes_of(static_cast<std::uint64_t>(p.rank), 300'007);
    broadcast(own, odd, p.size - 1);
    require(are_bytes_of(static_cast<std::uint64_t>(p.size - 1), odd), "parts that are not equal");
    int one = p.rank + 5;
    broadcast(own, one, p.size / 2);
    require_equal(one, p.size / 2 + 5, "one value");
}

void reductions(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : counts) {
        std::vector<std::uint64_t> expected(count);
        for (int rank = 0; rank < p.size; ++rank)
            for (std::size_t i = 0; i < count; ++i)
                expected[i] += value_of(rank, i);
        const auto in = values_of(p.rank, count);
        for (int root = 0; root < p.size; ++root) {
            std::vector<std::uint64_t> out(p.rank == root ? count : 0);
            reduce(own, in, out, std::plus<>{}, root);
            require(p.rank != root || out == expected, "reduce of " + std::to_string(count));
        }
        std::vector<std::uint64_t> out(count);
        allreduce(own, in, out, std::plus<>{});
        require(out == expected, "allreduce of " + std::to_string(count));
        auto both = in;
        allreduce(own, both, both, sum_of);
        require(both == expected, "allreduce in place");
        both = in;
        reduce(own, both, both, std::plus<>{}, 0);
        require(both == (p.rank == 0 ? expected : in), "reduce in place");
    }
    require_equal(allreduce(own, p.rank, [](int a, int b) { return std::max(a, b); }), p.size - 1,
                  "largest rank");
}

void order_of_ranks(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : counts) {
        std::vector<matrix> in(count), expected(count), out(count);
        for (std::size_t i = 0; i < count; ++i) {
            in[i] = matrix_of(p.rank, i);
            expected[i] = matrix_of(0, i);
            for (int rank = 1; rank < p.size; ++rank)
                expected[i] = product{}(expected[i], matrix_of(rank, i));
        }
        allreduce(own, in, out, product{});
        require(out == expected, "allreduce keeps the order of the ranks, " + std::to_string(count));
        for (int root = 0; root < p.size; ++root) {
            std::fill(out.begin(), out.end(), matrix{});
            reduce(own, in, out, product{}, root);
            require(p.rank != root || out == expected, "reduce keeps the order of the ranks");
        }
    }
}

// Sums of doubles that depend on their grouping: the same bits on all ranks and in each run.
void same_bits(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{40'000}}) {
        std::vector<double> in(count), first(count), again(count);
        for (std::size_t i = 0; i < count; ++i)
            in[i] = std::ldexp(1.0 + static_cast<double>(value_of(p.rank, i) % 1'000'003),
                               (p.rank * 7 + int(i)) % 40);
        allreduce(own, in, first, std::plus<>{});
        allreduce(own, in, again, std::plus<>{});
        std::vector<double> of_all(count * static_cast<std::size_t>(p.size));
        allgather(own, first, of_all);
        for (std::size_t i = 0; i < of_all.size(); ++i)
            require(std::bit_cast<std::uint64_t>(of_all[i]) == std::bit_cast<std::uint64_t>(first[i % count]),
                    "the same bits on all ranks");
        require(std::memcmp(first.data(), again.data(), count * sizeof(double)) == 0, "the same bits again");
        // Wherever the result of a reduce is wanted.
        std::vector<double> at_first(count), at_root(count);
        reduce(own, in, at_first, std::plus<>{}, 0);
        for (int root = 1; root < p.size; ++root) {
            reduce(own, in, at_root, std::plus<>{}, root);
            if (p.rank == root)
                own.send(at_root, 0, 1);
            if (p.rank == 0) {
                own.recv(at_root, root, 1);
                require(std::memcmp(at_first.data(), at_root.data(), count * sizeof(double)) == 0,
                        "the same bits at each root");
            }
        }
    }
}

void gathers(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : counts) {
        const auto in = values_of(p.rank, count);
        std::vector<std::uint64_t> expected;
        for (int rank = 0; rank < p.size; ++rank)
            for (const auto value : values_of(rank, count))
                expected.push_back(value);
        for (int root = 0; root < p.size; ++root) {
            std::vector<std::uint64_t> out(p.rank == root ? expected.size() : 0);
            gather(own, in, out, root);
            require(p.rank != root || out == expected, "gather of " + std::to_string(count));
        }
        std::vector<std::uint64_t> out(expected.size());
        allgather(own, in, out);
        require(out == expected, "allgather of " + std::to_string(count));
    }
    std::vector<int> ranks(static_cast<std::size_t>(p.size));
    allgather(own, p.rank, ranks);
    for (int rank = 0; rank < p.size; ++rank)
        require_equal(ranks[static_cast<std::size_t>(rank)], rank, "one value each");
}

void exchanges(party &p) {
    endpoint own = p.make_endpoint({});
    const auto ranks = static_cast<std::size_t>(p.size);
    const auto what = [](int from, int to, std::size_t i) { return value_of(from * 100 + to, i); };
    for (const std::size_t count : {0, 1, 3, 32, 33, 1000, 5000}) {
        std::vector<std::uint64_t> in(count * ranks), out(count * ranks);
        for (std::size_t to = 0; to < ranks; ++to)
            for (std::size_t i = 0; i < count; ++i)
                in[to * count + i] = what(p.rank, static_cast<int>(to), i);
        alltoall(own, in, out);
        for (std::size_t from = 0; from < ranks; ++from)
            for (std::size_t i = 0; i < count; ++i)
                require_equal(out[from * count + i], what(static_cast<int>(from), p.rank, i), "alltoall");
    }
    // Blocks of all sizes, some empty.
    const auto length = [](int from, int to) {
        return static_cast<std::size_t>((from * 3 + to) % 4 == 0 ? 0 : (from + 1) * (to + 2) * 211);
    };
    std::vector<std::size_t> going, coming;
    std::vector<std::uint64_t> in;
    for (int other = 0; other < p.size; ++other) {
        going.push_back(length(p.rank, other));
        coming.push_back(length(other, p.rank));
        for (std::size_t i = 0; i < going.back(); ++i)
            in.push_back(what(p.rank, other, i));
    }
    std::vector<std::uint64_t> out(std::accumulate(coming.begin(), coming.end(), std::size_t{0}));
    alltoallv(own, in, going, out, coming);
    std::size_t at = 0;
    for (int from = 0; from < p.size; ++from)
        for (std::size_t i = 0; i < coming[static_cast<std::size_t>(from)]; ++i)
            require_equal(out[at++], what(from, p.rank, i), "alltoallv");
}

// Several at a time, each on an endpoint of its own, while messages of the same endpoints are exchanged.
void at_once(party &p) {
    constexpr int tasks = 6;
    std::vector<endpoint> all;
    for (int k = 0; k < tasks; ++k)
        all.push_back(p.make_endpoint({.wildcards = k % 2 == 0}));
    std::vector<handle<void>> running;
    for (int k = 0; k < tasks; ++k)
        running.push_back(spawn([&, k] {
            endpoint &own = all[static_cast<std::size_t>(k)];
            for (int i = 0; i < 20; ++i) {
                const int sum = allreduce(own, p.rank + k + i, std::plus<>{});
                require_equal(sum, p.size * (p.size - 1) / 2 + p.size * (k + i), "sum while others run");
                int root = p.rank;
                broadcast(own, root, i % p.size);
                require_equal(root, i % p.size, "broadcast while others run");
                std::vector<int> in(static_cast<std::size_t>(p.size), p.rank * tasks + k), out(in.size());
                alltoall(own, in, out);
                for (int from = 0; from < p.size; ++from)
                    require_equal(out[static_cast<std::size_t>(from)], from * tasks + k,
                                  "alltoall while others run");
                comm::barrier(own);
            }
        }));
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k < tasks; ++k) {
            endpoint &own = all[static_cast<std::size_t>(k)];
            own.send(i * tasks + k, p.next(), 0);
            const int source = k % 2 == 0 ? any_source : p.previous();
            require_equal(own.recv<int>(source, k % 2 == 0 ? any_tag : 0), i * tasks + k,
                          "the user's own messages");
        }
    join_all(running);
}

// Blocks of all sizes, some empty, in order; with gaps by the functions of bytes.
std::size_t block_of(int rank, std::size_t count) {
    return static_cast<std::size_t>(rank % 3) * count + (rank % 2);
}

void scatters(party &p) {
    endpoint own = p.make_endpoint({});
    const auto ranks = static_cast<std::size_t>(p.size);
    for (const std::size_t count : counts) {
        std::vector<std::uint64_t> all;
        for (int rank = 0; rank < p.size; ++rank)
            for (const auto value : values_of(rank, count))
                all.push_back(value);
        for (int root = 0; root < p.size; ++root) {
            std::vector<std::uint64_t> out(count);
            scatter(own, p.rank == root ? all : std::vector<std::uint64_t>(), out, root);
            require(out == values_of(p.rank, count), "scatter of " + std::to_string(count));
        }
        std::vector<std::size_t> sizes(ranks);
        std::vector<std::uint64_t> joined;
        for (int rank = 0; rank < p.size; ++rank) {
            sizes[static_cast<std::size_t>(rank)] = block_of(rank, count);
            for (const auto value : values_of(rank, block_of(rank, count)))
                joined.push_back(value);
        }
        const auto mine = values_of(p.rank, block_of(p.rank, count));
        for (int root = 0; root < p.size; ++root) {
            std::vector<std::uint64_t> out(mine.size());
            if (p.rank == root)
                scatterv(own, joined, sizes, out, root);
            else
                scatterv(own, std::vector<std::uint64_t>(), {}, out, root);
            require(out == mine, "scatterv of " + std::to_string(count));
            std::vector<std::uint64_t> at_root(p.rank == root ? joined.size() : 0);
            gatherv(own, mine, at_root,
                    p.rank == root ? std::span<const std::size_t>(sizes) : std::span<const std::size_t>(),
                    root);
            require(p.rank != root || at_root == joined, "gatherv of " + std::to_string(count));
        }
        std::vector<std::uint64_t> everywhere(joined.size());
        allgatherv(own, mine, everywhere, sizes);
        require(everywhere == joined, "allgatherv of " + std::to_string(count));
    }
}

// Bytes with gaps, and the own block in place.
void with_gaps(party &p) {
    endpoint own = p.make_endpoint({});
    const auto ranks = static_cast<std::size_t>(p.size), rank = static_cast<std::size_t>(p.rank);
    constexpr std::size_t slot = 20;
    std::vector<std::size_t> sizes(ranks), offsets(ranks);
    for (std::size_t i = 0; i < ranks; ++i) {
        sizes[i] = i % slot;
        offsets[i] = (ranks - 1 - i) * slot;
    }
    const auto holds = [&](const std::vector<std::byte> &all, std::size_t i, std::uint64_t seed) {
        for (std::size_t k = 0; k < slot; ++k)
            require(all[offsets[i] + k] == (k < sizes[i] ? byte_at(seed, k) : std::byte{0}), "with gaps");
    };
    const auto mine = bytes_of(rank, sizes[rank]);
    std::vector<std::byte> all(ranks * slot);
    detail::allgatherv(own, mine.data(), mine.size(), all.data(), sizes, offsets);
    for (std::size_t i = 0; i < ranks; ++i)
        holds(all, i, i);
    std::vector<std::byte> again(ranks * slot);
    std::copy(mine.begin(), mine.end(), again.begin() + static_cast<std::ptrdiff_t>(offsets[rank]));
    detail::allgatherv(own, again.data() + offsets[rank], sizes[rank], again.data(), sizes, offsets);
    require(again == all, "in place");
    std::vector<std::byte> to_all(ranks * slot), from_all(ranks * slot);
    std::vector<std::size_t> same(ranks, sizes[rank]);
    for (std::size_t i = 0; i < ranks; ++i) // as much to each as it has for itself
        std::copy_n(bytes_of(rank * 100 + i, sizes[i]).begin(), sizes[i],
                    to_all.begin() + static_cast<std::ptrdiff_t>(offsets[i]));
    detail::alltoallv(own, to_all.data(), sizes, offsets, from_all.data(), same, offsets);
    for (std::size_t i = 0; i < ranks; ++i)
        for (std::size_t k = 0; k < same[i]; ++k)
            require(from_all[offsets[i] + k] == byte_at(i * 100 + rank, k), "alltoallv with gaps");
    require_throw<std::invalid_argument>([&] {
        detail::allgatherv(own, mine.data(), mine.size(), all.data(), sizes,
                           std::span(offsets).first(ranks - 1));
    });
}

void prefixes(party &p) {
    endpoint own = p.make_endpoint({});
    for (const std::size_t count : counts) {
        std::vector<matrix> in(count), up_to(count, matrix{1, 0, 0, 1}), out(count), before;
        for (std::size_t i = 0; i < count; ++i)
            in[i] = matrix_of(p.rank, i);
        for (int rank = 0; rank <= p.rank; ++rank) {
            if (rank == p.rank)
                before = up_to;
            for (std::size_t i = 0; i < count; ++i)
                up_to[i] = product{}(up_to[i], matrix_of(rank, i));
        }
        scan(own, in, out, product{});
        require(out == up_to, "scan of " + std::to_string(count));
        const std::vector<matrix> untouched(count, matrix{9, 9, 9, 9});
        out = untouched;
        exscan(own, in, out, product{});
        require(out == (p.rank == 0 ? untouched : before), "exscan of " + std::to_string(count));
        out = in;
        scan(own, out, out, product{});
        require(out == up_to, "scan in place");
    }
}

void reduced_parts(party &p) {
    endpoint own = p.make_endpoint({});
    const auto ranks = static_cast<std::size_t>(p.size);
    for (const std::size_t count : {0, 1, 3, 100, 3000}) {
        std::vector<std::size_t> parts(ranks);
        std::size_t begin = 0, all = 0;
        for (int rank = 0; rank < p.size; ++rank) {
            parts[static_cast<std::size_t>(rank)] = block_of(rank, count);
            begin += rank < p.rank ? block_of(rank, count) : 0;
            all += block_of(rank, count);
        }
        const auto check = [&](const auto &in, const auto &op, auto value_at) {
            std::vector<std::remove_cvref_t<decltype(in[0])>> out(block_of(p.rank, count));
            reduce_scatter(own, in, out, parts, op);
            for (std::size_t i = 0; i < out.size(); ++i)
                require(out[i] == value_at(begin + i), "reduce_scatter of " + std::to_string(count));
        };
        std::vector<matrix> matrices(all);
        for (std::size_t i = 0; i < all; ++i)
            matrices[i] = matrix_of(p.rank, i);
        check(matrices, product{}, [&](std::size_t i) {
            matrix expected = matrix_of(0, i);
            for (int rank = 1; rank < p.size; ++rank)
                expected = product{}(expected, matrix_of(rank, i));
            return expected;
        });
        const auto sum_at = [&](std::size_t i) {
            std::uint64_t sum = 0;
            for (int rank = 0; rank < p.size; ++rank)
                sum += value_of(rank, i);
            return sum;
        };
        check(values_of(p.rank, all), std::plus<>{}, sum_at);
        std::vector<std::uint64_t> out(count);
        reduce_scatter(own, values_of(p.rank, count * ranks), out, std::plus<>{});
        for (std::size_t i = 0; i < count; ++i)
            require_equal(out[i], sum_at(static_cast<std::size_t>(p.rank) * count + i), "equal parts");
    }
}

// Several at once on one endpoint, each with its own number, begun in another order on each rank.
void numbered(party &p) {
    endpoint own = p.make_endpoint({});
    constexpr int tasks = 8;
    std::vector<handle<void>> running;
    for (int i = 0; i < tasks; ++i)
        running.push_back(spawn([&, k = (i + 3 * p.rank) % tasks] {
            const auto number = static_cast<std::uint32_t>(k + 1);
            const auto sum = detail::combiner_of<int>(std::plus<>{});
            for (const std::size_t count : {std::size_t{1}, std::size_t{20'000}}) {
                const std::vector<int> in(count, p.rank + k);
                std::vector<int> out(count), all(count * static_cast<std::size_t>(p.size));
                detail::allreduce(own, in.data(), out.data(), count, sum, number);
                const int expected = p.size * (p.size - 1) / 2 + p.size * k;
                require(std::all_of(out.begin(), out.end(), [&](int each) { return each == expected; }),
                        "sum");
                detail::allgather(own, in.data(), all.data(), count * sizeof(int), number);
                for (std::size_t j = 0; j < all.size(); ++j)
                    require_equal(all[j], static_cast<int>(j / count) + k, "allgather");
                int root = p.rank == k % p.size ? k : -1;
                detail::broadcast(own, &root, sizeof root, k % p.size, number);
                require_equal(root, k, "broadcast");
                detail::barrier(own, number);
            }
        }));
    require_equal(allreduce(own, 1, std::plus<>{}), p.size, "the one without a number");
    join_all(running);
    require_throw<std::out_of_range>([&] { detail::barrier(own, detail::max_sequence + 1); });
    detail::barrier(own, detail::max_sequence);
}

// Endpoints whose messages are not matched serve as well.
void any_delivery(party &p) {
    endpoint queued = p.make_endpoint({.delivery = delivery::queued});
    require_equal(allreduce(queued, 2, std::plus<>{}), 2 * p.size, "on a queued endpoint");
    comm::barrier(queued);
    require(!queued.dequeue(), "nothing was delivered to the user");
}

void errors(party &p) {
    endpoint own = p.make_endpoint({});
    std::vector<int> some(3), more(4), of_all(some.size() * static_cast<std::size_t>(p.size) + 1);
    require_throw<std::out_of_range>([&] { broadcast(own, some, -1); });
    require_throw<std::out_of_range>([&] { broadcast(own, some, p.size); });
    require_throw<std::out_of_range>([&] { reduce(own, some, some, std::plus<>{}, p.size); });
    require_throw<std::out_of_range>([&] { gather(own, some, of_all, p.size + 7); });
    require_throw<std::invalid_argument>([&] { allreduce(own, some, more, std::plus<>{}); });
    require_throw<std::invalid_argument>([&] { reduce(own, some, more, std::plus<>{}, p.rank); });
    require_throw<std::invalid_argument>([&] { allgather(own, some, of_all); });
    require_throw<std::invalid_argument>([&] { gather(own, some, of_all, p.rank); });
    require_throw<std::invalid_argument>([&] { alltoall(own, some, more); });
    if (3 % p.size != 0)
        require_throw<std::invalid_argument>([&] { alltoall(own, some, some); });
    const std::vector<std::size_t> none(static_cast<std::size_t>(p.size));
    require_throw<std::invalid_argument>([&] { alltoallv(own, some, none, more, none); });
    require_throw<std::invalid_argument>([&] { alltoallv(own, some, {}, more, none); });
    if (p.size > 1) { // their sum is 3 modulo 2^64
        std::vector<std::size_t> wrapped = none;
        wrapped[0] = std::size_t{1} << 63;
        wrapped[1] = wrapped[0] + 3;
        require_throw<std::invalid_argument>([&] { gatherv(own, some, some, wrapped, p.rank); });
        require_throw<std::invalid_argument>([&] { scatterv(own, some, wrapped, some, p.rank); });
        require_throw<std::invalid_argument>([&] { allgatherv(own, some, some, wrapped); });
        require_throw<std::invalid_argument>([&] { alltoallv(own, some, wrapped, some, none); });
        require_throw<std::invalid_argument>(
            [&] { reduce_scatter(own, some, some, wrapped, std::plus<>{}); });
        require_throw<std::invalid_argument>([&] { detail::layout_of_blocks(wrapped, 1); });
        require_throw<std::invalid_argument>([&] { detail::layout_of_blocks({wrapped.data(), 1}, 2); });
    }
    endpoint empty;
    require_throw<std::invalid_argument>([&] { comm::barrier(empty); });
    comm::barrier(own); // it works still
    if (p.size == 2) {  // sizes that differ between the ranks; each rank gets the error
        endpoint other = p.make_endpoint({});
        std::vector<int> own_size(p.rank == 0 ? 3 : 4);
        require_throw<std::invalid_argument>([&] { allreduce(other, own_size, own_size, std::plus<>{}); });
    }
}

// A second call on an endpoint on which one waits is refused.
void one_at_a_time(party &p) {
    endpoint own = p.make_endpoint({});
    if (p.size == 1)
        return;
    if (p.rank == 0) {
        // One of two is refused: the other one cannot end before the other ranks call it, and they wait for
        // the refusal.
        int refused = 0;
        const auto call = [&] {
            try {
                comm::barrier(own);
            } catch (const std::logic_error &e) {
                require(std::string(e.what()).find("another collective runs") != std::string::npos, e.what());
                ++refused;
                for (int other = 1; other < p.size; ++other)
                    own.send(1, other, 1);
            }
        };
        auto first = spawn(call), second = spawn(call);
        first.join();
        second.join();
        require_equal(refused, 1, "calls that were refused");
    } else {
        own.recv<int>(0, 1);
        comm::barrier(own);
    }
}

constexpr conformance_case all_cases[] = {
    {"barriers", barriers},
    {"broadcasts", broadcasts},
    {"reductions", reductions},
    {"gathers", gathers},
    {"order_of_ranks", order_of_ranks},
    {"same_bits", same_bits},
    {"exchanges", exchanges},
    {"scatters", scatters},
    {"with_gaps", with_gaps},
    {"prefixes", prefixes},
    {"reduced_parts", reduced_parts},
    {"numbered", numbered},
    {"at_once", at_once},
    {"any_delivery", any_delivery},
    {"errors", errors},
    {"one_at_a_time", one_at_a_time},
};

} // namespace

std::span<const conformance_case> collective_cases() { return all_cases; }

} // namespace fult::comm::testing
