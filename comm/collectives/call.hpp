// Common part of all collectives: one call of a rank, its messages, and temporary memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include <fult/comm/collectives.hpp>
#include <fult/detail/assertion.hpp>

namespace fult::comm::detail {

class endpoint_state;

// Part of the tag, so that ranks that disagree on the collective wait rather than mix bytes.
enum class collective : std::uint32_t {
    barrier = 1,
    broadcast,
    reduce,
    allreduce,
    gather,
    allgather,
    alltoall,
    alltoallv,
    gatherv,
    scatter,
    scatterv,
    allgatherv,
    reduce_scatter,
    scan,
    exscan
};

// One running call of this rank.
class collective_call {
  public:
    // Throws std::invalid_argument for an empty endpoint, std::logic_error if another call without a number
    // runs on it, std::out_of_range for a number above max_sequence.
    collective_call(endpoint &ep, collective what, std::uint32_t sequence);
    ~collective_call() { leave(); }
    collective_call(const collective_call &) = delete;
    collective_call &operator=(const collective_call &) = delete;

    int rank() const noexcept { return rank_; }
    int size() const noexcept { return size_; }
    // The rank at that distance after this one, in a circle; distance from -size() to size().
    int neighbour(int distance) const noexcept {
        FULT_ASSERT(-size_ <= distance && distance <= size_);
        return (rank_ + distance + size_) % size_;
    }
    void check_root(int root) const; // throws std::out_of_range
    // One size and offset for each rank. Throws std::invalid_argument.
    void check_each(const char *call, sizes sizes_of, sizes offsets) const;

    // `round` is any number that both sides use for a message. A message of unexpected size throws
    // std::invalid_argument: the ranks disagree.
    void send(const void *data, std::size_t size, int to, std::uint32_t round = 0);
    void recv(void *data, std::size_t size, int from, std::uint32_t round = 0);
    void exchange(const void *out, std::size_t out_size, int to, void *in, std::size_t in_size, int from,
                  std::uint32_t round = 0);

  private:
    // 18 bits for the call, 5 for the collective, 8 for the round; internal_tag stays clear.
    std::uint32_t tag(std::uint32_t round) const noexcept {
        return sequence_ << 13 | static_cast<std::uint32_t>(what_) << 8 | (round & 0xff);
    }
    void leave() noexcept;
    void expect(std::size_t got, std::size_t wanted, int from) const;
    [[noreturn]] void fail(const error &failure) const;

    endpoint_state &state_;
    endpoint &context_; // the collective context endpoint
    collective what_;
    std::uint32_t sequence_;
    int rank_;
    int size_;
};

// Memory of one call, aligned for any element. A little of it needs no allocation.
class scratch {
  public:
    explicit scratch(std::size_t size)
        : bytes_(size <= sizeof own_ ? nullptr : static_cast<std::byte *>(::operator new(size, alignment))) {}
    std::byte *data() noexcept { return bytes_ ? bytes_.get() : own_; }

  private:
    static constexpr std::align_val_t alignment{64};
    struct release {
        void operator()(std::byte *bytes) const noexcept { ::operator delete(bytes, alignment); }
    };
    std::unique_ptr<std::byte, release> bytes_;
    alignas(64) std::byte own_[256];
};

// Reduces `sum`, which holds this rank's values; the result is the root's.
void reduce_at(int root, collective_call &call, void *sum, std::size_t count, const combiner &reduction);
inline void combine(const combiner &reduction, void *accumulated, const void *other, bool other_first,
                    std::size_t count) {
    if (count != 0)
        reduction.combine(reduction.op, accumulated, other, other_first, count);
}

inline void copy_bytes(void *to, const void *from, std::size_t size) noexcept {
    if (size != 0 && to != from)
        std::memmove(to, from, size);
}

inline std::byte *offset(void *base, std::size_t by) noexcept { return static_cast<std::byte *>(base) + by; }
inline const std::byte *offset(const void *base, std::size_t by) noexcept {
    return static_cast<const std::byte *>(base) + by;
}

// The memory of each rank's block: of one size, in a row; or of these sizes, at these offsets.
template <class Memory> auto blocks_of(Memory *base, std::size_t block) noexcept {
    return [=](int rank) { return std::span(offset(base, static_cast<std::size_t>(rank) * block), block); };
}
template <class Memory> auto blocks_of(Memory *base, sizes sizes_of, sizes offsets) noexcept {
    return [=](int rank) {
        const auto i = static_cast<std::size_t>(rank);
        return std::span(offset(base, offsets[i]), sizes_of[i]);
    };
}

// The root's blocks to all others, and its own to `out`.
template <class Blocks>
void scatter_blocks(collective_call &call, const Blocks &block, void *out, std::size_t size, int root,
                    std::uint32_t round = 0) {
    if (call.rank() != root) {
        call.recv(out, size, root, round);
        return;
    }
    for (int distance = 1; distance < call.size(); ++distance) {
        const int to = call.neighbour(distance);
        call.send(block(to).data(), block(to).size(), to, round);
    }
    copy_bytes(out, block(root).data(), size);
}

} // namespace fult::comm::detail
