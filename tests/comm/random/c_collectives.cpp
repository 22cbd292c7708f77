// Collective operations by the calls in C: all types and operators, one that does not commute, and calls that
// are refused between them.
#include <cstring>
#include <limits>

#include "tests/comm/random/in_c.hpp"

namespace fult::comm::testing {
namespace {

struct c_call {
    std::uint64_t seed;
    int root;
    std::size_t count;
    actor &by;
    fult_comm_endpoint_t at;

    int rank() const noexcept { return by.in.me.rank; }
    int size() const noexcept { return by.in.me.size; }
    std::size_t ranks() const noexcept { return static_cast<std::size_t>(size()); }
    std::vector<std::byte> block(int of, std::size_t bytes) const {
        std::vector<std::byte> all(bytes);
        fill(all, seed_of(seed, of));
        return all;
    }
    void expect(bool holds, const char *what) const {
        by.in.expect(holds, std::string(what) + " in C, root " + std::to_string(root) + ", count " +
                                std::to_string(count));
    }
};

int do_barrier(const c_call &c) { return fult_comm_barrier(c.at); }

int do_broadcast(const c_call &c) {
    std::vector<std::byte> data = c.block(c.rank(), c.count);
    const int status = fult_comm_broadcast(c.at, data.data(), data.size(), c.root);
    c.expect(status != FULT_SUCCESS || data == c.block(c.root, c.count), "broadcast");
    return status;
}

// Small numbers: sums and products of floating-point numbers are exact then.
template <class T> T number_of(const c_call &c, int of, std::size_t i) {
    const std::uint64_t n = seed_of(c.seed, of, i, 3);
    return std::is_integral_v<T> ? static_cast<T>(n) : static_cast<T>(static_cast<int>(n % 9) - 4);
}

template <class T> T combined(int op, T a, T b) {
    const auto with = [&](auto f) {
        return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    };
    switch (op) {
    case FULT_COMM_SUM:
        if constexpr (std::is_integral_v<T>)
            return with(std::plus<>());
        else
            return a + b;
    case FULT_COMM_PRODUCT:
        if constexpr (std::is_integral_v<T>)
            return with(std::multiplies<>());
        else
            return a * b;
    case FULT_COMM_MIN:
        return b < a ? b : a;
    case FULT_COMM_MAX:
        return a < b ? b : a;
    case FULT_COMM_AND:
        return T(a != T{} && b != T{});
    case FULT_COMM_OR:
        return T(a != T{} || b != T{});
    case FULT_COMM_XOR:
        return T((a != T{}) != (b != T{}));
    default:
        if constexpr (std::is_integral_v<T>)
            return op == FULT_COMM_BITWISE_AND  ? with(std::bit_and<>())
                   : op == FULT_COMM_BITWISE_OR ? with(std::bit_or<>())
                                                : with(std::bit_xor<>());
        else
            std::abort();
    }
}

template <class T, int Type> int do_reduce_of(const c_call &c) {
    dice d(seed_of(c.seed, 4));
    const int op = d.below(std::is_integral_v<T> ? 10 : 7);
    const bool to_all = d.chance(50), in_place = d.chance(30);
    std::vector<T> in(c.count), out(in.size(), T{1}), wanted(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = number_of<T>(c, c.rank(), i);
        wanted[i] = number_of<T>(c, 0, i);
        for (int of = 1; of < c.size(); ++of)
            wanted[i] = combined<T>(op, wanted[i], number_of<T>(c, of, i));
    }
    const bool gets = to_all || c.rank() == c.root;
    T *const place = in_place ? in.data() : gets ? out.data() : nullptr;
    const int status = to_all ? fult_comm_allreduce(c.at, in.data(), place, c.count, Type, op)
                              : fult_comm_reduce(c.at, in.data(), place, c.count, Type, op, c.root);
    c.expect(status != FULT_SUCCESS || !gets || (in_place ? in : out) == wanted,
             to_all ? "allreduce" : "reduce");
    return status;
}

int do_reduce(const c_call &c) {
    using of_type = int (*)(const c_call &);
    constexpr of_type all[] = {
        do_reduce_of<std::int8_t, FULT_COMM_INT8>,   do_reduce_of<std::uint8_t, FULT_COMM_UINT8>,
        do_reduce_of<std::int16_t, FULT_COMM_INT16>, do_reduce_of<std::uint16_t, FULT_COMM_UINT16>,
        do_reduce_of<std::int32_t, FULT_COMM_INT32>, do_reduce_of<std::uint32_t, FULT_COMM_UINT32>,
        do_reduce_of<std::int64_t, FULT_COMM_INT64>, do_reduce_of<std::uint64_t, FULT_COMM_UINT64>,
        do_reduce_of<float, FULT_COMM_FLOAT>,        do_reduce_of<double, FULT_COMM_DOUBLE>};
    dice d(seed_of(c.seed, 5));
    return d.one_of(all)(c);
}

// Functions x -> a x + b, one after the other: associative, and not commutative.
struct line {
    std::uint32_t a, b;
    bool operator==(const line &) const = default;
};
line line_of(const c_call &c, int of, std::size_t i) {
    const std::uint64_t n = seed_of(c.seed, of, i, 6);
    return {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32)};
}
line after(line first, line then) { return {first.a * then.a, first.b * then.a + then.b}; }
void chain(void *user, const void *left, const void *right, void *result, std::size_t count) {
    ++*static_cast<unsigned *>(user);
    for (std::size_t i = 0; i < count; ++i) {
        line l, r;
        std::memcpy(&l, static_cast<const line *>(left) + i, sizeof l);
        std::memcpy(&r, static_cast<const line *>(right) + i, sizeof r);
        const line both = after(l, r);
        std::memcpy(static_cast<line *>(result) + i, &both, sizeof both);
    }
}

int do_reduce_with(const c_call &c) {
    dice d(seed_of(c.seed, 7));
    const bool to_all = d.chance(50);
    std::vector<line> in(c.count), out(c.count), wanted(c.count);
    for (std::size_t i = 0; i < in.size(); ++i) {
        in[i] = line_of(c, c.rank(), i);
        wanted[i] = line_of(c, 0, i);
        for (int of = 1; of < c.size(); ++of)
            wanted[i] = after(wanted[i], line_of(c, of, i));
    }
    unsigned calls = 0;
    const int status =
        to_all ? fult_comm_allreduce_with(c.at, in.data(), out.data(), c.count, sizeof(line), chain, &calls)
               : fult_comm_reduce_with(c.at, in.data(), out.data(), c.count, sizeof(line), chain, &calls,
                                       c.root);
    c.expect(status != FULT_SUCCESS || !(to_all || c.rank() == c.root) || out == wanted, "reduce_with");
    return status;
}

std::vector<std::byte> all_blocks(const c_call &c) {
    std::vector<std::byte> all;
    for (int of = 0; of < c.size(); ++of)
        for (const std::byte each : c.block(of, c.count))
            all.push_back(each);
    return all;
}

int do_gather(const c_call &c) {
    const std::vector<std::byte> in = c.block(c.rank(), c.count);
    std::vector<std::byte> out(c.rank() == c.root ? c.count * c.ranks() : 0);
    const int status =
        fult_comm_gather(c.at, in.data(), in.size(), out.empty() ? nullptr : out.data(), c.root);
    c.expect(status != FULT_SUCCESS || c.rank() != c.root || out == all_blocks(c), "gather");
    return status;
}

int do_allgather(const c_call &c) {
    const std::vector<std::byte> in = c.block(c.rank(), c.count);
    std::vector<std::byte> out(c.count * c.ranks());
    const int status = fult_comm_allgather(c.at, in.data(), in.size(), out.data());
    c.expect(status != FULT_SUCCESS || out == all_blocks(c), "allgather");
    return status;
}

int do_alltoall(const c_call &c) {
    const std::vector<std::byte> in = c.block(c.rank(), c.count * c.ranks());
    std::vector<std::byte> out(in.size());
    const int status = fult_comm_alltoall(c.at, in.data(), c.count, out.data());
    for (int of = 0; status == FULT_SUCCESS && of < c.size(); ++of) {
        const std::vector<std::byte> theirs = c.block(of, in.size());
        c.expect(c.count == 0 ||
                     std::memcmp(out.data() + static_cast<std::size_t>(of) * c.count,
                                 theirs.data() + static_cast<std::size_t>(c.rank()) * c.count, c.count) == 0,
                 "alltoall");
    }
    return status;
}

int do_alltoallv(const c_call &c) {
    const auto size = [&](int from, int to) -> std::size_t {
        return seed_of(c.seed, from, to, 5) % (c.count + 1);
    };
    std::vector<std::size_t> in_sizes, out_sizes;
    std::vector<std::byte> in, wanted;
    for (int other = 0; other < c.size(); ++other) {
        in_sizes.push_back(size(c.rank(), other));
        out_sizes.push_back(size(other, c.rank()));
        std::vector<std::byte> to(in_sizes.back()), from(out_sizes.back());
        fill(to, seed_of(c.seed, c.rank(), other));
        fill(from, seed_of(c.seed, other, c.rank()));
        in.insert(in.end(), to.begin(), to.end());
        wanted.insert(wanted.end(), from.begin(), from.end());
    }
    in.reserve(1); // memory of no bytes, but not NULL
    std::vector<std::byte> out(wanted.size());
    out.reserve(1);
    const int status = fult_comm_alltoallv(c.at, in.data(), in_sizes.data(), out.data(), out_sizes.data());
    c.expect(status != FULT_SUCCESS || out == wanted, "alltoallv");
    return status;
}

struct typed_operation {
    const char *name;
    int (*run)(const c_call &);
};
constexpr typed_operation typed_operations[] = {
    {"fult_comm_barrier", do_barrier},         {"fult_comm_broadcast", do_broadcast},
    {"fult_comm_reduce", do_reduce},           {"fult_comm_reduce", do_reduce},
    {"fult_comm_reduce_with", do_reduce_with}, {"fult_comm_gather", do_gather},
    {"fult_comm_allgather", do_allgather},     {"fult_comm_alltoall", do_alltoall},
    {"fult_comm_alltoallv", do_alltoallv},
};

void run_sequence_in_c(actor &by) {
    scene &in = by.in;
    dice d = in.shared(1);
    as_in_c at(in.own[0]);
    bool lost = false;
    for (int n = d.between(1, 15); n > 0; --n) {
        const typed_operation &what = d.one_of(typed_operations);
        const std::uint64_t seed = d.next();
        const int root = d.below(in.me.size);
        const std::size_t count = d.chance(60) ? d.below(std::size_t{40}) : d.below(std::size_t{20000});
        if (by.roll.chance(20))
            refuse_in_c(by, in.own[0]);
        by.doing(what.name);
        const bool well = went_well(in, any_rank, what.name, what.run(c_call{seed, root, count, by, at}));
        in.expect(!lost || !well, std::string(what.name) + " went well after another had lost a rank");
        lost = lost || !well;
        by.dawdle();
    }
}

void begin_c_collectives(scene &in) { in.all->add(in, "collectives in C", run_sequence_in_c); }

constexpr act_kind c_collectives_kinds[] = {{"c_collectives", 1, nullptr, begin_c_collectives, nullptr}};

} // namespace

std::span<const act_kind> c_collective_acts() { return c_collectives_kinds; }

} // namespace fult::comm::testing
