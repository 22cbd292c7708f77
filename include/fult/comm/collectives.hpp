/// @file
/// Collective operations. Every rank calls the same operations of an endpoint in the same order, with
/// matching sizes; only the calling task is suspended. Tasks that use different endpoints may run them
/// concurrently; a second one on an endpoint where one is running throws std::logic_error. Their messages
/// never match the endpoint's send and recv. Any endpoint may be used, whatever its delivery.
///
/// A reduction combines the ranks' values in rank order, with a grouping that depends only on their number
/// and on the size: the operator must be associative up to rounding and need not be commutative; all ranks
/// get the same bits, in every run. It must be deterministic and must not throw.
///
/// reduce_scatter alone may combine in another order, the same in every run, where the operator is std::plus
/// or std::multiplies of numbers.
///
/// Errors: std::invalid_argument if ranges do not match; std::out_of_range for a root that does not exist;
/// comm::error peer_failed on every participating rank if a rank has ended: the endpoint's collectives can no
/// longer be used, and each later one fails the same way; peer_left on a rank that needs one whose context
/// has ended; later ones of that endpoint fail there. All may suspend, and may be called by foreign threads,
/// which block.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include <fult/comm/endpoint.hpp>

namespace fult::comm {

/// @cond internal
namespace detail {

// A type-erased operator on arrays.
struct combiner {
    // accumulated[i] = accumulated[i] op other[i], or other[i] op accumulated[i] if other precedes it.
    void (*combine)(const void *op, void *accumulated, const void *other, bool other_first,
                    std::size_t count) noexcept;
    const void *op;
    std::size_t element;      // its size in bytes
    bool commutative = false; // the order of the ranks need not be kept
};

// An operation as an address, also if it is a plain function (POSIX lets those be addresses of objects).
template <class Op> const void *address_of(const Op &op) noexcept {
    return reinterpret_cast<const void *>(std::addressof(op));
}
template <class Op> const Op &operation_at(const void *address) noexcept {
    if constexpr (std::is_function_v<Op>)
        return *reinterpret_cast<Op *>(const_cast<void *>(address));
    else
        return *static_cast<const Op *>(address);
}

// For operators of which every one is known to be commutative on that type.
template <class T, class Op> struct is_commutative : std::false_type {};
template <class T> struct is_commutative<T, std::plus<T>> : std::is_arithmetic<T> {};
template <class T> struct is_commutative<T, std::plus<>> : std::is_arithmetic<T> {};
template <class T> struct is_commutative<T, std::multiplies<T>> : std::is_arithmetic<T> {};
template <class T> struct is_commutative<T, std::multiplies<>> : std::is_arithmetic<T> {};

template <class T, class Op> combiner combiner_of(const Op &op) noexcept {
    static_assert(alignof(T) <= 64, "fult-comm: reductions are of elements that 64 bytes align");
    static_assert(std::is_invocable_r_v<T, const Op &, const T &, const T &>,
                  "fult-comm: the operation takes two elements and returns one, and is const");
    return {[](const void *with, void *accumulated, const void *other, bool other_first,
               std::size_t count) noexcept {
                const Op &f = operation_at<Op>(with);
                T *a = static_cast<T *>(accumulated);
                const T *b = static_cast<const T *>(other);
                if (other_first)
                    for (std::size_t i = 0; i < count; ++i)
                        a[i] = f(b[i], a[i]);
                else
                    for (std::size_t i = 0; i < count; ++i)
                        a[i] = f(a[i], b[i]);
            },
            address_of(op), sizeof(T), is_commutative<T, Op>::value};
}

// Sizes and offsets are in bytes, counts in elements. A block is one rank's part, or its part for one other
// rank. Spans that only the root needs may be empty elsewhere.
//
// `sequence`: collectives of one endpoint that run at the same time, each called by a task of its own, need
// numbers that differ, each the same on all ranks: 1 to max_sequence. Those without one run one at a time.
//
// `in` may be `out` where both have the same size: reduce (at the root), allreduce, scan, exscan,
// reduce_scatter. It may be the rank's own block of `out` for gather and allgather, and `out` that of `in`
// for scatter.
inline constexpr std::uint32_t max_sequence = (1U << 18) - 1;

// A second channel among the ranks of an endpoint, without wildcards, for libraries that are built on this
// one: their messages match neither receives of the endpoint nor collectives. Their tags have this bit.
inline constexpr std::uint32_t internal_tag = 1U << 31;
FULT_API endpoint &internal_channel(const endpoint &ep);
// The name of an endpoint in reports, of at most 31 characters, until it is destroyed. From any thread.
FULT_API void name_endpoint(const endpoint &which, const char *name) noexcept;

using sizes = std::span<const std::size_t>; // one for each rank

FULT_API void barrier(endpoint &ep, std::uint32_t sequence);
FULT_API void broadcast(endpoint &ep, void *data, std::size_t size, int root, std::uint32_t sequence = 0);
FULT_API void reduce(endpoint &ep, const void *in, void *out, std::size_t count, int root,
                     const combiner &reduction, std::uint32_t sequence = 0);
FULT_API void allreduce(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
                        std::uint32_t sequence = 0);
FULT_API void reduce_scatter(endpoint &ep, const void *in, void *out, sizes counts, const combiner &reduction,
                             std::uint32_t sequence = 0);
FULT_API void reduce_scatter_block(endpoint &ep, const void *in, void *out, std::size_t count,
                                   const combiner &reduction, std::uint32_t sequence = 0);
FULT_API void scan(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
                   std::uint32_t sequence = 0);
// Rank 0's `out` is not accessed.
FULT_API void exscan(endpoint &ep, const void *in, void *out, std::size_t count, const combiner &reduction,
                     std::uint32_t sequence = 0);
FULT_API void gather(endpoint &ep, const void *in, void *out, std::size_t block, int root,
                     std::uint32_t sequence = 0);
FULT_API void gatherv(endpoint &ep, const void *in, std::size_t size, void *out, sizes sizes_of,
                      sizes offsets, int root, std::uint32_t sequence = 0);
FULT_API void scatter(endpoint &ep, const void *in, void *out, std::size_t block, int root,
                      std::uint32_t sequence = 0);
FULT_API void scatterv(endpoint &ep, const void *in, sizes sizes_of, sizes offsets, void *out,
                       std::size_t size, int root, std::uint32_t sequence = 0);
FULT_API void allgather(endpoint &ep, const void *in, void *out, std::size_t block,
                        std::uint32_t sequence = 0);
FULT_API void allgatherv(endpoint &ep, const void *in, std::size_t size, void *out, sizes sizes_of,
                         sizes offsets, std::uint32_t sequence = 0);
FULT_API void alltoall(endpoint &ep, const void *in, void *out, std::size_t block,
                       std::uint32_t sequence = 0);
FULT_API void alltoallv(endpoint &ep, const void *in, sizes in_sizes, sizes in_offsets, void *out,
                        sizes out_sizes, sizes out_offsets, std::uint32_t sequence = 0);
// Counts in elements, without gaps.
FULT_API void alltoallv(endpoint &ep, const void *in, sizes in_counts, void *out, sizes out_counts,
                        std::size_t element);

// counts[k] elements each, in order and without gaps: sizes and offsets in bytes. Throws
// std::invalid_argument if no memory has so many bytes, std::bad_alloc.
struct FULT_API layout_of_blocks {
    layout_of_blocks(sizes counts, std::size_t element);
    std::vector<std::size_t> sizes_of, offsets;
};
// Throws if the sizes differ; `call` and `which` identify the argument.
FULT_API void check_fits(const char *call, const char *which, std::size_t given, std::size_t needed);

// The largest number if the sum is larger: no range has so many elements.
inline std::size_t sum_of(sizes counts) noexcept {
    std::size_t sum = 0;
    for (const std::size_t count : counts)
        if (__builtin_add_overflow(sum, count, &sum))
            return ~std::size_t{0};
    return sum;
}
// The same for a block of each rank.
inline std::size_t sum_of(std::size_t block, int ranks) noexcept {
    std::size_t sum = 0;
    return __builtin_mul_overflow(block, static_cast<std::size_t>(ranks), &sum) ? ~std::size_t{0} : sum;
}
template <class R> using element_of = std::remove_cv_t<std::ranges::range_value_t<R>>;
template <class R> std::size_t bytes_of(const R &range) {
    return std::ranges::size(range) * sizeof(element_of<R>);
}

} // namespace detail
/// @endcond

/// A writable range.
template <class R>
concept plain_output =
    plain_range<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// Two ranges with the same element type.
template <class In, class Out>
concept same_elements = std::same_as<detail::element_of<In>, detail::element_of<Out>>;

/// Returns when every rank has called it.
FULT_API void barrier(endpoint &ep);

/// Copies the root's values to all ranks. The size must be the same everywhere.
template <plain_output R> void broadcast(endpoint &ep, R &&values, int root) {
    detail::broadcast(ep, std::ranges::data(values), detail::bytes_of(values), root);
}
/// Copies the root's value.
template <plain T>
requires(!plain_range<T> && !std::is_const_v<T>) void broadcast(endpoint &ep, T &value, int root) {
    detail::broadcast(ep, &value, sizeof value, root);
}

/// out[i] = all ranks' in[i], combined, at the root; elsewhere `out` is not accessed. The size must be the
/// same everywhere. `out` may be `in`; otherwise they must not overlap.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void reduce(endpoint &ep, const In &in, Out &&out, const Op &op, int root) {
    if (ep.rank() == root)
        detail::check_fits("reduce", "out", std::ranges::size(out), std::ranges::size(in));
    detail::reduce(ep, std::ranges::data(in), std::ranges::data(out), std::ranges::size(in), root,
                   detail::combiner_of<detail::element_of<In>>(op));
}

/// Like reduce, with the result on all ranks.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void allreduce(endpoint &ep, const In &in, Out &&out, const Op &op) {
    detail::check_fits("allreduce", "out", std::ranges::size(out), std::ranges::size(in));
    detail::allreduce(ep, std::ranges::data(in), std::ranges::data(out), std::ranges::size(in),
                      detail::combiner_of<detail::element_of<In>>(op));
}
/// Reduces one value and returns the result.
template <plain T, class Op>
requires(!plain_range<T>) T allreduce(endpoint &ep, const T &value, const Op &op) {
    T result = value;
    detail::allreduce(ep, &value, &result, 1, detail::combiner_of<T>(op));
    return result;
}

/// Concatenates all ranks' values, by rank, at the root; elsewhere `out` is not accessed. Every rank
/// contributes the same number; `out` has room for all and does not overlap `in`.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void gather(endpoint &ep, const In &in, Out &&out, int root) {
    if (ep.rank() == root)
        detail::check_fits("gather", "out", std::ranges::size(out),
                           detail::sum_of(std::ranges::size(in), ep.size()));
    detail::gather(ep, std::ranges::data(in), std::ranges::data(out), detail::bytes_of(in), root);
}

/// Like gather, on all ranks.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void allgather(endpoint &ep, const In &in, Out &&out) {
    detail::check_fits("allgather", "out", std::ranges::size(out),
                       detail::sum_of(std::ranges::size(in), ep.size()));
    detail::allgather(ep, std::ranges::data(in), std::ranges::data(out), detail::bytes_of(in));
}
/// Gathers one value from each rank.
template <plain T, plain_output Out>
requires(!plain_range<T> &&
         std::same_as<detail::element_of<Out>, T>) void allgather(endpoint &ep, const T &value, Out &&out) {
    allgather(ep, std::span<const T>(&value, 1), out);
}

/// The k-th block of `in` becomes this rank's block of `out` on rank k. The block size is the same
/// everywhere: the range divided by the number of ranks. The ranges must not overlap.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void alltoall(endpoint &ep, const In &in, Out &&out) {
    const std::size_t ranks = ep.size() > 0 ? static_cast<std::size_t>(ep.size()) : 1; // empty: refused below
    const std::size_t block = std::ranges::size(in) / ranks;
    detail::check_fits("alltoall", "in (a block for each rank)", std::ranges::size(in), block * ranks);
    detail::check_fits("alltoall", "out", std::ranges::size(out), std::ranges::size(in));
    detail::alltoall(ep, std::ranges::data(in), std::ranges::data(out),
                     block * sizeof(detail::element_of<In>));
}

/// Like alltoall, with blocks of any number of elements: in_counts[k] for rank k, out_counts[k] from it, in
/// order and without gaps. The counts of sender and receiver must match.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void alltoallv(endpoint &ep, const In &in, std::span<const std::size_t> in_counts, Out &&out,
               std::span<const std::size_t> out_counts) {
    const auto ranks = static_cast<std::size_t>(ep.size());
    detail::check_fits("alltoallv", "in_counts", in_counts.size(), ranks);
    detail::check_fits("alltoallv", "out_counts", out_counts.size(), ranks);
    detail::check_fits("alltoallv", "in", std::ranges::size(in), detail::sum_of(in_counts));
    detail::check_fits("alltoallv", "out", std::ranges::size(out), detail::sum_of(out_counts));
    detail::alltoallv(ep, std::ranges::data(in), in_counts, std::ranges::data(out), out_counts,
                      sizeof(detail::element_of<In>));
}

/// The root's k-th block of `in` becomes `out` on rank k; elsewhere `in` is not accessed. The block size,
/// that of `out`, is the same everywhere. At the root `out` may be its own block of `in`.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void scatter(endpoint &ep, const In &in, Out &&out, int root) {
    if (ep.rank() == root)
        detail::check_fits("scatter", "in", std::ranges::size(in),
                           detail::sum_of(std::ranges::size(out), ep.size()));
    detail::scatter(ep, std::ranges::data(in), std::ranges::data(out), detail::bytes_of(out), root);
}

/// Like gather, scatter and allgather, with blocks of any number of elements: counts[k] of rank k, in order
/// and without gaps. The root needs the counts, for allgatherv every rank.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void gatherv(endpoint &ep, const In &in, Out &&out, std::span<const std::size_t> counts, int root) {
    if (ep.rank() == root) {
        detail::check_fits("gatherv", "counts", counts.size(), static_cast<std::size_t>(ep.size()));
        detail::check_fits("gatherv", "out", std::ranges::size(out), detail::sum_of(counts));
    }
    const detail::layout_of_blocks all(counts, sizeof(detail::element_of<In>));
    detail::gatherv(ep, std::ranges::data(in), detail::bytes_of(in), std::ranges::data(out), all.sizes_of,
                    all.offsets, root);
}
/// See gatherv.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void scatterv(endpoint &ep, const In &in, std::span<const std::size_t> counts, Out &&out, int root) {
    if (ep.rank() == root) {
        detail::check_fits("scatterv", "counts", counts.size(), static_cast<std::size_t>(ep.size()));
        detail::check_fits("scatterv", "in", std::ranges::size(in), detail::sum_of(counts));
    }
    const detail::layout_of_blocks all(counts, sizeof(detail::element_of<In>));
    detail::scatterv(ep, std::ranges::data(in), all.sizes_of, all.offsets, std::ranges::data(out),
                     detail::bytes_of(out), root);
}
/// See gatherv.
template <plain_range In, plain_output Out>
requires same_elements<In, Out>
void allgatherv(endpoint &ep, const In &in, Out &&out, std::span<const std::size_t> counts) {
    detail::check_fits("allgatherv", "counts", counts.size(), static_cast<std::size_t>(ep.size()));
    detail::check_fits("allgatherv", "out", std::ranges::size(out), detail::sum_of(counts));
    const detail::layout_of_blocks all(counts, sizeof(detail::element_of<In>));
    detail::allgatherv(ep, std::ranges::data(in), detail::bytes_of(in), std::ranges::data(out), all.sizes_of,
                       all.offsets);
}

/// Reduces `in` and gives counts[k] elements of the result to rank k, in order; `out` has room for its own.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void reduce_scatter(endpoint &ep, const In &in, Out &&out, std::span<const std::size_t> counts,
                    const Op &op) {
    detail::check_fits("reduce_scatter", "counts", counts.size(), static_cast<std::size_t>(ep.size()));
    detail::check_fits("reduce_scatter", "in", std::ranges::size(in), detail::sum_of(counts));
    detail::check_fits("reduce_scatter", "out", std::ranges::size(out),
                       counts[static_cast<std::size_t>(ep.rank())]);
    detail::reduce_scatter(ep, std::ranges::data(in), std::ranges::data(out), counts,
                           detail::combiner_of<detail::element_of<In>>(op));
}
/// The same with as many elements for each rank as `out` has.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void reduce_scatter(endpoint &ep, const In &in, Out &&out, const Op &op) {
    detail::check_fits("reduce_scatter", "in", std::ranges::size(in),
                       detail::sum_of(std::ranges::size(out), ep.size()));
    detail::reduce_scatter_block(ep, std::ranges::data(in), std::ranges::data(out), std::ranges::size(out),
                                 detail::combiner_of<detail::element_of<In>>(op));
}

/// out[i] = the in[i] of the ranks up to this one, combined. `out` may be `in`; otherwise they must not
/// overlap.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void scan(endpoint &ep, const In &in, Out &&out, const Op &op) {
    detail::check_fits("scan", "out", std::ranges::size(out), std::ranges::size(in));
    detail::scan(ep, std::ranges::data(in), std::ranges::data(out), std::ranges::size(in),
                 detail::combiner_of<detail::element_of<In>>(op));
}
/// The same without this rank's own; rank 0's `out` is not accessed.
template <plain_range In, plain_output Out, class Op>
requires same_elements<In, Out>
void exscan(endpoint &ep, const In &in, Out &&out, const Op &op) {
    detail::check_fits("exscan", "out", std::ranges::size(out), std::ranges::size(in));
    detail::exscan(ep, std::ranges::data(in), std::ranges::data(out), std::ranges::size(in),
                   detail::combiner_of<detail::element_of<In>>(op));
}

} // namespace fult::comm
