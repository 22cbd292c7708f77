// Collective operations.
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include <fult/comm/collectives.hpp>

#include "comm/c_api/objects.hpp"

using namespace fult::comm::detail;
using fult::comm::endpoint;

namespace {

// Integers are combined as unsigned types, so that nothing overflows.
struct sum {
    template <class T> T operator()(T a, T b) const noexcept {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
        else
            return a + b;
    }
};
struct product {
    template <class T> T operator()(T a, T b) const noexcept {
        if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
        else
            return a * b;
    }
};
struct minimum {
    template <class T> T operator()(T a, T b) const noexcept { return b < a ? b : a; }
};
struct maximum {
    template <class T> T operator()(T a, T b) const noexcept { return a < b ? b : a; }
};
struct logical_and {
    template <class T> T operator()(T a, T b) const noexcept { return T{} != a && T{} != b ? T{1} : T{}; }
};
struct logical_or {
    template <class T> T operator()(T a, T b) const noexcept { return T{} != a || T{} != b ? T{1} : T{}; }
};
struct logical_xor {
    template <class T> T operator()(T a, T b) const noexcept { return (T{} != a) != (T{} != b) ? T{1} : T{}; }
};
struct bit_and {
    template <class T> T operator()(T a, T b) const noexcept { return static_cast<T>(a & b); }
};
struct bit_or {
    template <class T> T operator()(T a, T b) const noexcept { return static_cast<T>(a | b); }
};
struct bit_xor {
    template <class T> T operator()(T a, T b) const noexcept { return static_cast<T>(a ^ b); }
};

template <class T, class Op> combiner standard() noexcept {
    static constexpr Op op{};
    return combiner_of<T>(op);
}

// The one of that number, from 0.
template <class T, class... Ops> combiner choose(int op) {
    static constexpr combiner (*all[])() noexcept = {standard<T, Ops>...};
    if (op < 0 || op >= int{sizeof...(Ops)})
        throw std::invalid_argument("fult-comm: reduction: the operation is " + std::to_string(op) +
                                    ", which enum fult_comm_op does not name, or not for this type");
    return all[op]();
}

// In the order of enum fult_comm_op.
static_assert(FULT_COMM_SUM == 0 && FULT_COMM_XOR == 6 && FULT_COMM_BITWISE_XOR == 9);
template <class T> combiner standard_of(int op) {
    if constexpr (std::is_integral_v<T>)
        return choose<T, sum, product, minimum, maximum, logical_and, logical_or, logical_xor, bit_and,
                      bit_or, bit_xor>(op);
    else
        return choose<T, sum, product, minimum, maximum, logical_and, logical_or, logical_xor>(op);
}

static_assert(FULT_COMM_INT8 == 0 && FULT_COMM_UINT64 == 7 && FULT_COMM_DOUBLE == 9);
combiner standard(int type, int op) {
    static constexpr combiner (*by_type[])(int) = {standard_of<std::int8_t>,  standard_of<std::uint8_t>,
                                                   standard_of<std::int16_t>, standard_of<std::uint16_t>,
                                                   standard_of<std::int32_t>, standard_of<std::uint32_t>,
                                                   standard_of<std::int64_t>, standard_of<std::uint64_t>,
                                                   standard_of<float>,        standard_of<double>};
    if (type < 0 || type > FULT_COMM_DOUBLE)
        throw std::invalid_argument("fult-comm: reduction: the type is " + std::to_string(type) +
                                    ", which enum fult_comm_type does not name");
    return by_type[type](op);
}

struct user_reduction {
    fult_comm_reduction_t call;
    void *user;
};

combiner combiner_of_user(const user_reduction &op, std::size_t element) {
    if (!op.call)
        throw std::invalid_argument("fult-comm: reduction: the operation is NULL");
    if (element == 0)
        throw std::invalid_argument("fult-comm: reduction: elements of 0 bytes");
    return {[](const void *how, void *accumulated, const void *other, bool other_first,
               std::size_t count) noexcept {
                const auto &own = *static_cast<const user_reduction *>(how);
                own.call(own.user, other_first ? other : accumulated, other_first ? accumulated : other,
                         accumulated, count);
            },
            &op, element};
}

void check_memory(const void *data, std::size_t count, std::size_t size) {
    if (count != 0 && size > std::numeric_limits<std::size_t>::max() / count)
        throw refusal("no memory is as large as " + std::to_string(count) + " times " + std::to_string(size) +
                      " bytes");
    given(data, count * size);
}

template <class Reduction>
int reduce_by(fult_comm_endpoint_t handle, const void *in, void *out, std::size_t count, int root,
              const Reduction &reduction) {
    return perform(handle, "fult_comm_reduce", [&](endpoint &ep) {
        const combiner op = reduction();
        check_memory(in, count, op.element);
        if (ep.rank() == root)
            check_memory(out, count, op.element);
        reduce(ep, in, out, count, root, op);
    });
}

template <class Reduction>
int allreduce_by(fult_comm_endpoint_t handle, const void *in, void *out, std::size_t count,
                 const Reduction &reduction) {
    return perform(handle, "fult_comm_allreduce", [&](endpoint &ep) {
        const combiner op = reduction();
        check_memory(in, count, op.element);
        check_memory(out, count, op.element);
        allreduce(ep, in, out, count, op);
    });
}

std::size_t ranks_of(const endpoint &ep) noexcept { return static_cast<std::size_t>(ep.size()); }

// Sizes of all blocks; check_blocks checks them against the memory.
std::span<const std::size_t> sizes_of(const char *which, const std::size_t *sizes, const endpoint &ep) {
    if (!sizes)
        throw refusal(std::string(which) + " is NULL; it must name a size for each rank");
    return {sizes, ranks_of(ep)};
}
void check_blocks(const void *data, std::span<const std::size_t> sizes, std::size_t element = 1) {
    for (const std::size_t size : sizes)
        check_memory(data, element, size);
}

} // namespace

int fult_comm_barrier(fult_comm_endpoint_t handle) {
    return perform(handle, __func__, [](endpoint &ep) { fult::comm::barrier(ep); });
}

int fult_comm_broadcast(fult_comm_endpoint_t handle, void *data, size_t size, int root) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(data, 1, size);
        broadcast(ep, data, size, root);
    });
}

int fult_comm_reduce(fult_comm_endpoint_t handle, const void *in, void *out, size_t count, int type, int op,
                     int root) {
    return reduce_by(handle, in, out, count, root, [&] { return standard(type, op); });
}

int fult_comm_allreduce(fult_comm_endpoint_t handle, const void *in, void *out, size_t count, int type,
                        int op) {
    return allreduce_by(handle, in, out, count, [&] { return standard(type, op); });
}

int fult_comm_reduce_with(fult_comm_endpoint_t handle, const void *in, void *out, size_t count,
                          size_t element, fult_comm_reduction_t op, void *user, int root) {
    const user_reduction own{op, user};
    return reduce_by(handle, in, out, count, root, [&] { return combiner_of_user(own, element); });
}

int fult_comm_allreduce_with(fult_comm_endpoint_t handle, const void *in, void *out, size_t count,
                             size_t element, fult_comm_reduction_t op, void *user) {
    const user_reduction own{op, user};
    return allreduce_by(handle, in, out, count, [&] { return combiner_of_user(own, element); });
}

int fult_comm_gather(fult_comm_endpoint_t handle, const void *in, size_t size, void *out, int root) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(in, 1, size);
        if (ep.rank() == root)
            check_memory(out, ranks_of(ep), size);
        gather(ep, in, out, size, root);
    });
}

int fult_comm_allgather(fult_comm_endpoint_t handle, const void *in, size_t size, void *out) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(in, 1, size);
        check_memory(out, ranks_of(ep), size);
        allgather(ep, in, out, size);
    });
}

int fult_comm_alltoall(fult_comm_endpoint_t handle, const void *in, size_t size, void *out) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(in, ranks_of(ep), size);
        check_memory(out, ranks_of(ep), size);
        alltoall(ep, in, out, size);
    });
}

int fult_comm_alltoallv(fult_comm_endpoint_t handle, const void *in, const size_t *in_sizes, void *out,
                        const size_t *out_sizes) {
    return perform(handle, __func__, [&](endpoint &ep) {
        const auto going = sizes_of("in_sizes", in_sizes, ep);
        const auto coming = sizes_of("out_sizes", out_sizes, ep);
        check_blocks(in, going);
        check_blocks(out, coming);
        alltoallv(ep, in, going, out, coming, 1);
    });
}

int fult_comm_scatter(fult_comm_endpoint_t handle, const void *in, size_t size, void *out, int root) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(out, 1, size);
        if (ep.rank() == root)
            check_memory(in, ranks_of(ep), size);
        scatter(ep, in, out, size, root);
    });
}

int fult_comm_gatherv(fult_comm_endpoint_t handle, const void *in, size_t size, void *out,
                      const size_t *sizes, int root) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(in, 1, size);
        std::span<const std::size_t> all;
        if (ep.rank() == root)
            all = sizes_of("sizes", sizes, ep);
        check_blocks(out, all);
        const layout_of_blocks parts(all, 1);
        gatherv(ep, in, size, out, parts.sizes_of, parts.offsets, root);
    });
}

int fult_comm_scatterv(fult_comm_endpoint_t handle, const void *in, const size_t *sizes, void *out,
                       size_t size, int root) {
    return perform(handle, __func__, [&](endpoint &ep) {
        check_memory(out, 1, size);
        std::span<const std::size_t> all;
        if (ep.rank() == root)
            all = sizes_of("sizes", sizes, ep);
        check_blocks(in, all);
        const layout_of_blocks parts(all, 1);
        scatterv(ep, in, parts.sizes_of, parts.offsets, out, size, root);
    });
}

int fult_comm_allgatherv(fult_comm_endpoint_t handle, const void *in, size_t size, void *out,
                         const size_t *sizes) {
    return perform(handle, __func__, [&](endpoint &ep) {
        const auto all = sizes_of("sizes", sizes, ep);
        check_memory(in, 1, size);
        check_blocks(out, all);
        const layout_of_blocks parts(all, 1);
        allgatherv(ep, in, size, out, parts.sizes_of, parts.offsets);
    });
}

int fult_comm_reduce_scatter(fult_comm_endpoint_t handle, const void *in, void *out, const size_t *counts,
                             int type, int op) {
    return perform(handle, __func__, [&](endpoint &ep) {
        const combiner reduction = standard(type, op);
        const auto all = sizes_of("counts", counts, ep);
        check_blocks(in, all, reduction.element);
        check_memory(out, all[static_cast<std::size_t>(ep.rank())], reduction.element);
        reduce_scatter(ep, in, out, all, reduction);
    });
}

int fult_comm_scan(fult_comm_endpoint_t handle, const void *in, void *out, size_t count, int type, int op) {
    return perform(handle, __func__, [&](endpoint &ep) {
        const combiner reduction = standard(type, op);
        check_memory(in, count, reduction.element);
        check_memory(out, count, reduction.element);
        scan(ep, in, out, count, reduction);
    });
}

int fult_comm_exscan(fult_comm_endpoint_t handle, const void *in, void *out, size_t count, int type, int op) {
    return perform(handle, __func__, [&](endpoint &ep) {
        const combiner reduction = standard(type, op);
        check_memory(in, count, reduction.element);
        if (ep.rank() != 0)
            check_memory(out, count, reduction.element);
        exscan(ep, in, out, count, reduction);
    });
}
